"""Search by spelling or meaning (PEXESO)."""
