"""Search by one column: the evidence for shared values."""
