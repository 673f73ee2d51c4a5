"""An open index: `dovetail.open` and its answers. Nothing here needs Spark or Java.

The verbs of a `Lake` are in four classes, by question:

    LakeCatalog   tables, table, find, find_columns, skipped, info
    LakeSearch    search, search_iter, search_many, search_each
    LakeJoins     join, predicates, map, union, decide, decisions, forget
    WholeLake     inds, foreign_keys, keys, graph, paths, to_spark

Methods import what they need: no question needs the code of all answers.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dovetail._storage.directory import newest_generation
from dovetail.api.lake_catalog import LakeCatalog
from dovetail.api.lake_joins import LakeJoins
from dovetail.api.lake_search import LakeSearch
from dovetail.api.whole_lake import WholeLake
from dovetail.catalog.decisions import decisions_digest

if TYPE_CHECKING:
    from dovetail.indexes.verify import Verification


class Lake(LakeSearch, LakeJoins, WholeLake, LakeCatalog):
    """An open index: a snapshot of one generation, which later writes do not change."""

    def __repr__(self) -> str:
        return f"<dovetail.Lake {self._snapshot.store.address} generation {self.generation}>"

    @property
    def generation(self) -> int:
        return self._snapshot.manifest.generation

    @property
    def state(self) -> str:
        """What answers depend on besides the question: the generation, and what people have decided so far."""
        return f"{self.generation}:{decisions_digest(self._snapshot.store)}"

    def newest(self) -> Lake:
        """This lake, or the newest generation of its index if there has been another one since."""
        if newest_generation(self._snapshot.store) == self.generation:
            return self
        return Lake(self._snapshot.store.absolute)


def open(path: str | Path) -> Lake:
    """Open the index at `path`. Returns a `Lake`."""
    return Lake(path)


def verify(path: str | Path) -> Verification:
    """Read every byte of the index at `path` and check all references. Returns the problems that were found, if any."""
    from dovetail.indexes.verify import verify_index

    return verify_index(path)
