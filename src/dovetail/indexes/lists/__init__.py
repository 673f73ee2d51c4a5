"""Answers: which columns hold these values in cells of several? Exact."""
