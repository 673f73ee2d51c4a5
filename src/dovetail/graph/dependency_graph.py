"""The join graph with inclusion dependencies as edges: more than likely foreign keys, and many of them by chance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dovetail.graph.inclusion_dependencies import InclusionDependencies
from dovetail.graph.join_graph import JoinGraph, Listed
from dovetail.graph.join_paths import JoinEdge

MOST = 20_000  # edges; arbitrary, what a browser explores with ease


def dependency_graph(dependencies: InclusionDependencies, tables: Iterable[str]) -> JoinGraph:
    """The graph of these tables and the best inclusion dependencies between them."""
    found = [_as_edge(each) for each in dependencies.to_dicts(MOST)]
    edges = [
        JoinEdge(
            each["dependent_table"], tuple(each["dependent_columns"]), each["referenced_table"],
            tuple(each["referenced_columns"]), each["score"], each["containment"], (False,), each["decided"],
        )
        for each in found
    ]  # fmt: skip
    left_out = len(dependencies) - len(found)
    note = f"The best {len(found):,}; {left_out:,} are left out." if left_out else ""
    return JoinGraph(tables, edges, Listed("inclusion dependency", lambda: found, note))


def _as_edge(found: dict[str, Any]) -> dict[str, Any]:
    """A dependency as foreign keys are listed."""
    reasons = [
        f"{found['containment']:.0%} of its values occur there",
        f"{found['coverage']:.0%} of the values there occur here",
    ]
    return {**found, "reasons": reasons}
