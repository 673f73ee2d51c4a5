"""MATE: the k tables that contain most tuples of a key of several columns, row by row.

Mahdi Esmailoghli, Jorge-Arnulfo Quiané-Ruiz, Ziawasch Abedjan: MATE: Multi-Attribute Table Extraction. PVLDB 15(8),
2022. doi:10.14778/3529337.3529353.

| paper | here |
|---|---|
| initial column q′ (section 6.1) | `start`; by default the column with the fewest distinct values |
| PL, posting list items; L_t | `Candidates.hits`; `bounds`, the items of a table |
| super key, XASH | `RowKeys.super_keys`; by XASH where the index was made with `super_key_xash=1` |
| table filters 1 and 2 (lines 9 and 14) | `mate_kernels.search_as_published`, `_match_table` |
| joinability j | `overlap` |

Guarantee: exact, unless `work.cut` counts tables that were left because the effort was spent.

Departures: both filters have the `<` of the listing, as the text's `≤` would lose tables that tie with the k-th. How
rows are verified is open in the paper; here by the product's own kernels. docs/algorithms/mate.md has the product's
search, which starts from a cover of the key's tuples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail._storage.packing_kernels import take_packed
from dovetail._types import Array
from dovetail.errors import InputError
from dovetail.indexes.mate.core import QueryKey, RowKeys
from dovetail.indexes.mate.query import (
    MOST_EFFORT,
    MOST_MAPPINGS,
    Candidates,
    KeyMatches,
    KeyWork,
    MateReader,
    no_matches,
)
from dovetail.papers.arguments import Answer, Index, segments_of, total
from dovetail.papers.mate_kernels import search_as_published
from dovetail.search.keys.query_key import query_key
from dovetail.tables.input_table import open_table


class TableMatch(NamedTuple):
    """A table that contains `overlap` tuples of the key, in these columns."""

    table: str
    columns: tuple[str, ...]
    overlap: int


def top_k(
    index: Index,
    key: Mapping[str, Iterable[Any]],
    k: int = 10,
    *,
    start: str | None = None,
    super_keys: bool = True,
) -> Answer[TableMatch, KeyWork]:
    """The k tables that contain most tuples of `key`, whose columns have a name and a value for each row.

    `start` names the column to start from; without `super_keys`, no row is ruled out before it is compared.
    """
    segments = segments_of(index)
    asked = query_key(open_table({name: list(values) for name, values in key.items()}, segments=segments), key)
    if start is not None and start not in key:
        raise InputError(f"start is {start!r}; it must be a column of the key: {', '.join(key)}.")
    place = None if start is None else list(key).index(start)
    tokens = [column.tokens for column in asked.columns]
    matches: list[TableMatch] = []
    works = [KeyWork(0, 0, 0, 0, 0, 0)]
    for segment in segments:
        found = search(
            segment.mate, tokens, asked.tuples, k, 1, segment.alive, start=place, super_keys=super_keys,
            ranks=segment.name_ranks,
        )  # fmt: skip
        works.append(found.work)
        for table, overlap, columns in zip(found.tables, found.overlaps, found.columns, strict=True):
            names = tuple(segment.catalog.column(int(column)).column for column in columns)
            matches.append(TableMatch(segment.names[table], names, int(overlap)))
    best = sorted(matches, key=lambda match: (-match.overlap, match.table))[:k]
    return Answer(best, total(works))


def search(
    reader: MateReader,
    columns: list[pa.Array],
    tuples: Array,
    k: int,
    floor: int = 1,
    allowed: npt.NDArray[np.bool_] | None = None,
    *,
    start: int | None = None,
    super_keys: bool = True,
    ranks: Array | None = None,
    effort: int = MOST_EFFORT,
) -> KeyMatches:
    """In one segment, as `MateReader.search`; `start` is a column of the key by its place."""
    limits = reader.limits(columns, tuples, k, floor, allowed, ranks)
    place = fewest_values(tuples) if start is None else start
    key = reader.key(columns, tuples, lambda local, _: local[:, place])
    if key is None or not limits.allowed.any():
        return no_matches(tuples.shape[1])
    hits, _ = reader.hits(key, limits.allowed)
    items = take_packed(reader.items.set_counts, hits[:, 3])
    totals = np.bincount(hits[:, 0], items, minlength=len(limits.allowed)).astype(np.int64)
    key, rows = (key, reader.rows) if super_keys else _without_super_keys(key, reader.rows)
    found = Candidates.of(hits, totals, floor, limits.ranks)
    return reader.verified(search_as_published, key, rows, found, limits, effort, MOST_MAPPINGS)


def fewest_values(tuples: Array) -> int:
    """The column of the key that the paper starts from: the one with the fewest distinct values."""
    return int(np.argmin([len(np.unique(column)) for column in tuples.T]))


def _without_super_keys(key: QueryKey, rows: RowKeys) -> tuple[QueryKey, RowKeys]:
    """Keys without a bit rule out nothing."""
    no_bits = np.empty((1, len(key.tuples), 0), np.uint64)
    key = key._replace(keys=no_bits, class_of=np.zeros(256, np.int64))
    return key, RowKeys(np.empty((len(rows.super_keys), 0), np.uint64), rows.ones)
