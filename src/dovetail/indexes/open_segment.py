"""An open index as search sees it: segments with their readers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from dovetail._names import unknown_table
from dovetail._storage.segment import Segment
from dovetail._types import Array
from dovetail.catalog import records
from dovetail.catalog.decisions import JOINS, Decision
from dovetail.catalog.records import CatalogReader
from dovetail.errors import UnknownName
from dovetail.indexes.tokens.query import TokenReader
from dovetail.lake.listing import matches

if TYPE_CHECKING:
    from dovetail.indexes.josie.query import JosieReader
    from dovetail.indexes.lsh_ensemble.query import LshEnsembleReader
    from dovetail.indexes.mate.query import MateReader
    from dovetail.indexes.pexeso.query import PexesoReader
    from dovetail.indexes.pieces.query import PieceReader
    from dovetail.indexes.rows.query import RowReader


class OpenSegment:
    """A segment with its readers, each imported and opened when it is first used."""

    def __init__(self, segment: Segment) -> None:
        self.segment = segment

    @cached_property
    def alive(self) -> Array:
        """Which of the tables are neither removed nor replaced."""
        alive = np.ones(self.segment.ref.tables, bool)
        alive[list(self.segment.ref.dead)] = False
        return alive

    @cached_property
    def catalog(self) -> CatalogReader:
        return CatalogReader(self.segment.pack(records.NAME))

    @cached_property
    def tokens(self) -> TokenReader:
        return TokenReader(self.segment)

    @cached_property
    def names(self) -> list[str]:
        names: list[str] = self.catalog.tables["table"].to_pylist()
        return names

    @cached_property
    def name_ranks(self) -> Array:
        """The place of each table among all by name."""
        ranks = np.empty(len(self.names), np.int64)
        ranks[sorted(range(len(self.names)), key=self.names.__getitem__)] = np.arange(len(self.names))
        return ranks

    @cached_property
    def rows(self) -> RowReader:
        from dovetail.indexes.rows.query import RowReader

        return RowReader(self.segment)

    @cached_property
    def josie(self) -> JosieReader:
        from dovetail.indexes.josie.query import JosieReader

        return JosieReader(self.segment)

    @cached_property
    def sketches(self) -> LshEnsembleReader:
        from dovetail.indexes.lsh_ensemble.query import LshEnsembleReader

        return LshEnsembleReader(self.segment)

    @cached_property
    def mate(self) -> MateReader:
        from dovetail.indexes.mate.query import MateReader

        return MateReader(self.segment)

    @cached_property
    def pieces(self) -> PieceReader:
        from dovetail.indexes.pieces.query import PieceReader

        return PieceReader(self.segment)

    @cached_property
    def texts(self) -> PexesoReader:
        from dovetail.indexes.pexeso.query import PexesoReader

        return PexesoReader(self.segment)

    @cached_property
    def lists(self) -> TokenReader:
        """Columns whose cells hold several values, by the parts of their cells."""
        from dovetail.indexes.lists.index import LISTS

        return LISTS.open(self.segment)

    @cached_property
    def table_of(self) -> Array:
        """The table of each column."""
        tables: Array = self.catalog.columns["table"].to_numpy()
        return tables

    def allowed(self, patterns: Iterable[str], but: str) -> Array:
        """Which tables may be hits: live ones that match one of the globs, and not the file `but`."""
        wanted = tuple(patterns)
        tables = self.alive.copy()
        if wanted:
            tables &= np.array([any(matches(name, glob) for glob in wanted) for name in self.names], bool)
        if but:
            tables &= ~pc.equal(self.catalog.tables["path"], but).to_numpy(zero_copy_only=False)
        return tables


def find_table(segments: Sequence[OpenSegment], name: str, otherwise: str) -> tuple[OpenSegment, int]:
    """The segment and number of a live table; `otherwise` begins the sentence where there is none."""
    for segment in segments:
        for number in np.flatnonzero(pc.equal(segment.catalog.tables["table"], name)):
            if segment.alive[number]:
                return segment, int(number)
    live = sorted(n for s in segments for n, alive in zip(s.names, s.alive, strict=True) if alive)
    raise UnknownName(unknown_table(otherwise, name, live))


def declared_joins(segments: Iterable[OpenSegment]) -> tuple[Decision, ...]:
    """The foreign keys that databases declare for live tables, as decisions: no evidence weighs more.

    The table that they refer to need not be in the index.
    """
    return tuple(
        Decision(segment.names[number], key.columns, key.table, key.referenced, JOINS, referring="left")
        for segment in segments
        for number, keys in segment.catalog.declared.items()
        if segment.alive[number]
        for key in keys.foreign
    )
