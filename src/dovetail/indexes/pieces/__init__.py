"""Pieces of values (runs of letters or digits): which columns could join with mine after a transformation?

Candidates only: a learned program decides. Section 5.3.1 of Zhu's thesis.
"""
