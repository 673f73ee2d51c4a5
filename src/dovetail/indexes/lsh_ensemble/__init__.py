"""LSH Ensemble: which columns hold at least this share of my values?

Sketches find candidates, the sets verify them: every answer is right, and a column is missed with a probability below
0.05.
"""
