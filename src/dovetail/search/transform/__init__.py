"""Search after a transformation (Auto-Join)."""
