"""Tokens, sets and postings: which values there are, which column holds which, and the other way round.

Exact. The first member of the registry, and what the others stand on.
"""
