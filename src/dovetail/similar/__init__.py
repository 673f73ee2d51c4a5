"""Which texts are similar: proposals for joins by similarity."""
