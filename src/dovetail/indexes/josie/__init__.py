"""JOSIE: which columns share most values with mine? Exact top-k overlap, ties included."""
