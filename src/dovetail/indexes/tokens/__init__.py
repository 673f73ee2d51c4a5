"""Tokens, sets and posting lists: which columns hold this value, and which values does a column hold?

Exact. The first member of the registry; the other indexes build on it.
"""
