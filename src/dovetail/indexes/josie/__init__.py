"""JOSIE: which columns share the most values with mine? Exact top-k overlap, ties included."""
