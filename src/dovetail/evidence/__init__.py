"""How good a join is, and why."""
