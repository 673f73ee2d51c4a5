"""What is fuzzed: a module for each kind of input.

Each has `SEEDS`, inputs to begin with, and `check(data)`, which raises for whatever should not happen.
"""
