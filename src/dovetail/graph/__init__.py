"""The whole lake at once: inclusion dependencies, foreign keys, and the graph that they make."""
