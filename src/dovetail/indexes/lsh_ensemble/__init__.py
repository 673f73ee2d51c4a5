"""LSH Ensemble: the columns that hold at least a share t of the query's values.

Sketches find candidates, the sets decide: what is answered is exact, and hardly any column is missed.
"""
