"""What a table of the lake has in common with mine beside the columns to join on: its folder, its names, its values."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.evidence.names import word_weight, words
from dovetail.lake.layout import is_made_up
from dovetail.lake.table_names import stem_of
from dovetail.tables.input_table import InputTable


def rarity_of_share(count: Array, number: int) -> Array:
    """From 0 for what all have to 1 for what only one has."""
    found: Array = np.log(max(number, 2) / np.maximum(count, 1)) / np.log(max(number, 2))
    return found


class Surroundings:
    """Arrays by table of the lake, from 0 (nothing in common) to about 1; and how rare the names of my columns are."""

    def __init__(self, lake: LakeColumns, table: InputTable) -> None:
        self._lake = lake
        self.near = _near(lake, table.address)
        self.called_alike = _called_alike(lake, table.name)
        names = pa.array([name.casefold() for name in table.names], pa.string())
        places = pc.index_in(lake.folded_names, value_set=names).fill_null(-1).to_numpy()
        self.same_name: Array = places  # of each column of the lake, the first of mine with its name, or -1
        known = np.flatnonzero(places >= 0)
        pairs = np.unique(np.stack([lake.table_of[known], places[known]], axis=1), axis=0)
        holders = np.bincount(pairs[:, 1], minlength=len(names))
        telling = np.array([not is_made_up(name) for name in table.names], bool)
        self.name_rarity: Array = np.where(telling, rarity_of_share(holders, lake.tables), 0.0)
        """Of each of my columns, by the number of tables that have one of its name."""
        self.shared_names: Array = np.bincount(
            pairs[:, 0], weights=self.name_rarity[pairs[:, 1]], minlength=lake.tables
        )
        """The names of columns that each table has in common with mine, weighed by rarity."""


def _near(lake: LakeColumns, address: str | None) -> Array:
    """How few tables the innermost folder of both holds: 0 for all of them, 1 for one; 0 outside of the lake."""
    near = np.zeros(lake.tables)
    folders = [] if address is None else [address[: found.end()] for found in re.finditer("/", address)]
    for folder in folders:
        held = pc.starts_with(lake.paths, folder).to_numpy(zero_copy_only=False)
        near[held] = rarity_of_share(held.sum(), lake.tables)
        if not held.any():
            break
    return near


def _called_alike(lake: LakeColumns, name: str) -> Array:
    """The share of the words of my table's name that each table's name has too, weighed by rarity."""
    mine = dict.fromkeys(words(stem_of(name)))
    alike, total = np.zeros(lake.tables), 0.0
    for word in mine:
        held = pc.match_substring(lake.stems, word).to_numpy(zero_copy_only=False)
        weight = float(rarity_of_share(held.sum(), lake.tables)) * word_weight(word)
        alike += held * weight
        total += weight
    return alike / total if total else alike
