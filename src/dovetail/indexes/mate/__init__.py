"""MATE: which tables join on several of my columns together? Exact top-k."""
