"""What a table of the lake has in common with mine beside the columns to join on: its folder, its names, its values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.evidence.names import word_weight, words
from dovetail.lake.layout import is_made_up
from dovetail.search.ranking.lake import LakeColumns, rarity_of_share
from dovetail.tables.input_table import InputTable


class Surroundings:
    """Arrays by table of the lake, from 0 (nothing in common) to about 1; and how rare the names of my columns are."""

    def __init__(self, lake: LakeColumns, table: InputTable) -> None:
        self._lake = lake
        folders = _ancestors(table.path)
        self.near, self.is_inside = _near(lake, folders)
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


def _ancestors(path: Path | None) -> list[str]:
    return [] if path is None else [f"{folder}/" for folder in path.resolve().parents if len(folder.parts) > 1]


def _near(lake: LakeColumns, folders: list[str]) -> tuple[Array, bool]:
    """How rare it is to be in the innermost folder that holds both; and whether any folder of mine holds tables."""
    near = np.zeros(lake.tables)
    inside = False
    for folder in reversed(folders):  # from the outermost
        held = pc.starts_with(lake.paths, folder).to_numpy(zero_copy_only=False)
        number = int(held.sum())
        if not number:
            break
        near[held] = rarity_of_share(np.array(number), lake.tables)
        inside = inside or number < lake.tables
    return near, inside


def _called_alike(lake: LakeColumns, name: str) -> Array:
    """The share of the words of my table's name that each table's name has too, weighed by rarity."""
    mine = [word for word in dict.fromkeys(words(name.rpartition("/")[2].rpartition(".")[0] or name))]
    alike, total = np.zeros(lake.tables), 0.0
    for word in mine:
        held = pc.match_substring(lake.stems, word).to_numpy(zero_copy_only=False)
        weight = float(rarity_of_share(held.sum(), lake.tables)) * word_weight(word)
        alike += held * weight
        total += weight
    return alike / total if total else alike
