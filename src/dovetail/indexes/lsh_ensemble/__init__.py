"""LSH Ensemble: the columns that hold at least a share t of the query's values.

Sketches find candidates, the sets decide: what is answered is exact, and hardly any column is missed.
"""

from __future__ import annotations

from dovetail.indexes.lsh_ensemble.index import LSH_ENSEMBLE
from dovetail.indexes.lsh_ensemble.query import Found, LshEnsembleReader, Work

__all__ = ["LSH_ENSEMBLE", "Found", "LshEnsembleReader", "Work"]
