"""The join graph of a lake: tables, and the likely foreign keys between them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail.errors import InputError
from dovetail.graph.export import SUFFIXES, write_graph
from dovetail.graph.foreign_keys import ForeignKeys
from dovetail.graph.output import check_suffix
from dovetail.graph.paths import JoinPath, best_paths
from dovetail.results import Rows

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True)
class Edge:
    """A likely foreign key: `columns` of `table` refer to `other_columns` of `other`."""

    table: str
    columns: tuple[str, ...]
    other: str
    other_columns: tuple[str, ...]
    score: float
    containment: float
    folded: tuple[bool, ...]  # for each pair of columns: whether text must be folded to be equal


@dataclass(frozen=True)
class Hub:
    """Columns that refer to each other, directly or not: one kind of thing, such as countries by code."""

    table: str  # where most refer to
    column: str
    tables: int
    columns: int
    edges: int

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))


class Graph:
    """Tables by name and the edges between them."""

    def __init__(self, tables: Iterable[str], edges: list[Edge]) -> None:
        self.tables = sorted(tables)
        self.edges = edges

    def __repr__(self) -> str:
        return f"<join graph: {len(self.tables):,} tables, {len(self.edges):,} edges>"

    def components(self) -> list[list[str]]:
        """The tables that hang together, largest first; those that hang on nothing are left out."""
        parts = _connected((edge.table, edge.other) for edge in self.edges if edge.table != edge.other)
        return sorted((sorted(part) for part in parts), key=lambda part: (-len(part), part))

    def hubs(self) -> Rows[Hub]:
        """What edges have in common: however many columns hold country codes, they are one hub. Largest first."""
        ends = [((e.table, e.columns), (e.other, e.other_columns)) for e in self.edges]
        edges_of: Counter[Any] = Counter(other for _, other in ends)
        hubs = []
        for part in _connected(ends):
            table, columns = min(part, key=lambda end: (-edges_of[end], end))
            tables = len({table for table, _ in part})
            edges = sum(edges_of[end] for end in part)
            hubs.append(Hub(table, ", ".join(columns), tables, len(part), edges))
        return Rows(sorted(hubs, key=lambda hub: (-hub.columns, hub.table, hub.column)))

    def paths(self, start: str, end: str, hops: int = 3, limit: int = 5) -> Rows[JoinPath]:
        """The best ways to join one table with another, over at most `hops` joins."""
        if start == end:
            raise InputError(f"A path leads from one table to another; both are {start}.")
        return Rows(best_paths(self.edges, start, end, hops, limit))

    def to_networkx(self) -> networkx.MultiDiGraph:
        """The same graph for networkx, which must be installed."""
        try:
            import networkx
        except ImportError:
            raise InputError("networkx is not installed: pip install networkx.") from None
        graph = networkx.MultiDiGraph()
        graph.add_nodes_from(self.tables)
        for edge in self.edges:
            graph.add_edge(
                edge.table, edge.other, columns=edge.columns, other_columns=edge.other_columns,
                score=edge.score, containment=edge.containment,
            )  # fmt: skip
        return graph

    def write(self, path: str | Path) -> None:
        """Write nodes and edges as .graphml or .json, or the edges as .parquet."""
        check_suffix(Path(path), SUFFIXES)
        write_graph(Path(path), self.tables, self.edges)


def join_graph(keys: ForeignKeys) -> Graph:
    """The graph of all live tables and these foreign keys."""
    columns = keys.columns
    names, kinds, tables = columns.names.to_pylist(), columns.kinds, columns.table_names.to_pylist()

    def folded(one: int, other: int) -> bool:
        return bool(kinds[one] != kinds[other] or kinds[one] in ("text", "mixed"))

    edges = [
        Edge(
            tables[int(columns.table_of[link.dependent[0]])],
            tuple(names[column] for column in link.dependent),
            tables[int(columns.table_of[link.referenced[0]])],
            tuple(names[column] for column in link.referenced),
            round(link.score, 4),
            round(link.containment, 6),
            tuple(map(folded, link.dependent, link.referenced)),
        )
        for link in keys.links()
    ]
    live = {tables[int(number)] for number in columns.table_of[columns.alive]}
    return Graph(live, edges)


def _connected(pairs: Iterable[tuple[Any, Any]]) -> list[list[Any]]:
    """The parts that hang together, by union and find."""
    parent: dict[Any, Any] = {}

    def root(node: Any) -> Any:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for one, other in pairs:
        parent[root(one)] = root(other)
    parts = defaultdict(list)
    for node in list(parent):
        parts[root(node)].append(node)
    return list(parts.values())
