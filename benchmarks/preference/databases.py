"""Databases with declared keys: folders of CSV files, and which columns refer to which."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

Predicate = frozenset[tuple[str, str]]

TPCH = {
    ("nation", "region"): [("n_regionkey", "r_regionkey")],
    ("supplier", "nation"): [("s_nationkey", "n_nationkey")],
    ("customer", "nation"): [("c_nationkey", "n_nationkey")],
    ("partsupp", "part"): [("ps_partkey", "p_partkey")],
    ("partsupp", "supplier"): [("ps_suppkey", "s_suppkey")],
    ("orders", "customer"): [("o_custkey", "c_custkey")],
    ("lineitem", "orders"): [("l_orderkey", "o_orderkey")],
    ("lineitem", "partsupp"): [("l_partkey", "ps_partkey"), ("l_suppkey", "ps_suppkey")],
}
"""The eight foreign keys of the benchmark's specification."""


@dataclass(frozen=True)
class TablePair:
    """Two tables with at least one declared key between them; any of the keys is right."""

    left: Path
    right: Path
    truths: tuple[Predicate, ...]

    @property
    def name(self) -> str:
        return f"{self.left.stem} – {self.right.stem}"


def tpch(folder: Path) -> list[TablePair]:
    return [
        TablePair(folder / f"{left}.csv", folder / f"{right}.csv", (frozenset(pairs),))
        for (left, right), pairs in TPCH.items()
    ]


def declared(folder: Path) -> list[TablePair]:
    """Of `truth.json`; keys of a table to itself and of lists in a cell are left out."""
    keys: dict[tuple[str, str], list[Predicate]] = defaultdict(list)
    for key in json.loads((folder / "truth.json").read_text())["foreign_keys"]:
        if key["from_table"] != key["to_table"] and "separator" not in key:
            pairs = frozenset(zip(key["from_columns"], key["to_columns"], strict=True))
            keys[key["from_table"], key["to_table"]].append(pairs)
    return [
        TablePair(folder / "tables" / f"{left}.csv", folder / "tables" / f"{right}.csv", tuple(truths))
        for (left, right), truths in keys.items()
    ]


def f1(found: Predicate, truths: tuple[Predicate, ...]) -> float:
    """Against the nearest of the truths, as in section VI.A of the paper."""
    best = 0.0
    for truth in truths:
        right = len(found & truth)
        if right:
            precision, recall = right / len(found), right / len(truth)
            best = max(best, 2 * precision * recall / (precision + recall))
    return best
