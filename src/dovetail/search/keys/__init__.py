"""Search by several columns together (MATE)."""
