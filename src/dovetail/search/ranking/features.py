"""What speaks for and against joining my table with one of the lake, as numbers: one row for each pair of columns.

To the features of any join come those that only a lake has: how common the values and the names are in it, how many
other columns would do as well, how near the two tables lie, and what else they have in common.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from dovetail._types import Array
from dovetail.evidence import features as any_join
from dovetail.evidence.columns import side_of_tables
from dovetail.evidence.features import Common, Side
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.evidence.names import Names, word_weight, words
from dovetail.lake.table_names import stem_of
from dovetail.search.ranking.surroundings import Surroundings
from dovetail.tables.input_table import InputTable

LAKE_FEATURES = (
    "rare_values", "rare_bits", "rivals", "rare_name", "called_alike", "shared_names", "shared_values",
    "lookup", "near_called", "near_key", "called_key", "contained_key", "called_back", "ends_alike",
    "ends_alike_key",
)  # fmt: skip
FEATURES = (*any_join.FEATURES, *LAKE_FEATURES)


class Pairs(NamedTuple):
    """Pairs of columns and what was counted of each, an array each."""

    mine: Array  # the position of my column in my table
    theirs: Array  # the number of the lake's column
    keys: Array  # distinct values that both have
    rows_here: Array  # of mine that match
    rows_there: Array
    joined: Array  # rows of the join
    rarity: Array  # of the common values, their mean

    def take(self, chosen: Array) -> Pairs:
        return Pairs(*(values[chosen] for values in self))


class Describer:
    """Features of pairs of columns of my table and the lake."""

    def __init__(self, lake: LakeColumns, table: InputTable, around: Surroundings) -> None:
        self._lake, self._table, self._around = lake, table, around
        self.side, _ = side_of_tables([table])

    def describe(self, pairs: Pairs, rivals: Array, shared_values: Array) -> Array:
        """A row for each pair, a column for each of FEATURES.

        `rivals` says how many columns of the lake share at least as many values with my column, `shared_values` how
        many other columns of mine have values in common with the table.
        """
        lake, around, tables = self._lake, self._around, self._lake.table_of[pairs.theirs]
        called, called_back, ends_alike, same_name, generic = self._names(pairs)
        here = Side(*(values[pairs.mine] for values in self.side))
        there = lake.side(pairs.theirs, generic)
        near = around.near[tables]
        none = np.zeros(len(tables))
        common = Common(
            pairs.keys, pairs.rows_here, pairs.rows_there, pairs.joined, called, same_name, none + 1, none + np.nan,
            none, none, none, none, near, none,
        )  # fmt: skip
        of_any_join = any_join.features(here, there, common)
        name_rarity = around.name_rarity[pairs.mine]
        is_key = lake.keys[pairs.theirs]
        contained = pairs.keys / np.maximum(here.distinct, 1)
        columns = {
            "rare_values": pairs.rarity,
            "rare_bits": np.log2(1 + pairs.keys * pairs.rarity) / 16,
            "rivals": np.log2(1 + rivals) / 16,
            "rare_name": name_rarity * same_name,
            "called_alike": around.called_alike[tables],
            "shared_names": np.log2(1 + np.maximum(around.shared_names[tables] - name_rarity * same_name, 0)) / 3,
            "shared_values": np.log2(1 + shared_values) / 3,
            "lookup": (pairs.joined <= pairs.rows_here) & (lake.width[pairs.theirs] > 1),
            "near_called": near * called,
            "near_key": near * is_key,
            "called_key": called * is_key,
            "contained_key": contained * is_key,
            "called_back": called_back,
            "ends_alike": ends_alike,
            "ends_alike_key": ends_alike * is_key,
        }
        assert tuple(columns) == LAKE_FEATURES
        of_lake = np.stack([np.asarray(values, np.float64) for values in columns.values()], axis=1)
        return np.concatenate([of_any_join, of_lake], axis=1)

    def _names(self, pairs: Pairs) -> tuple[Array, Array, Array, Array, Array]:
        """How far mine is named after theirs or their table, and theirs after mine or my table; whether mine is called
        like the end of their table's name, whether both names are the same, and whether theirs is generic."""
        lake, table = self._lake, self._table
        theirs, place = np.unique(pairs.theirs, return_inverse=True)
        tables, table_place = np.unique(lake.table_of[theirs], return_inverse=True)
        encoded = pa.concat_arrays([pa.array(table.names, pa.string()), lake.names_of(theirs)]).dictionary_encode()
        files = [table.name, *lake.table_names.take(pa.array(tables)).to_pylist()]
        mine = len(table.names)
        table_of = np.concatenate([np.zeros(mine, np.int64), 1 + table_place])
        names = Names(encoded.dictionary, encoded.indices.to_numpy(), files, table_of)
        names.set_keys(np.flatnonzero(np.concatenate([self.side.is_leading, lake.leading[theirs]])))
        called, _ = names.compare(pairs.mine, mine + place)
        same = self._around.same_name[pairs.theirs]
        folded = np.array([name.casefold() for name in table.names], object)
        same_name = (same >= 0) & (folded[same] == folded[pairs.mine])
        called_back, _ = names.compare(mine + place, pairs.mine)
        telling = [_telling_words(name) for name in table.names]
        of_stems = [_telling_words(stem_of(name)) for name in files]
        ends_alike = np.array(
            [
                bool(telling[one]) and of_stems[other][-len(telling[one]) :] == telling[one]
                for one, other in zip(pairs.mine.tolist(), (1 + table_place[place]).tolist(), strict=True)
            ],
            bool,
        )
        return called, called_back, ends_alike, same_name, names.is_generic[mine + place]


def _telling_words(name: str) -> list[str]:
    """The words of a name without those of any key."""
    return [word for word in words(name) if word_weight(word) == 1]
