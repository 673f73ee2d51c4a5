"""The join graph of a lake: tables and the joins between them, with components, hubs, paths, files.

Its edges are the likely foreign keys, or the best inclusion dependencies: more than likely foreign keys, and many of
them by chance.
"""

from __future__ import annotations

import html
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa

from dovetail._output import whole_file
from dovetail.errors import InputError
from dovetail.graph.arrow_answer import check_suffix
from dovetail.graph.diagrams import dbml, mermaid
from dovetail.graph.explorer import explorer_data, explorer_page
from dovetail.graph.foreign_keys import DECLARED, ForeignKeys
from dovetail.graph.inclusion_dependencies import InclusionDependencies
from dovetail.graph.join_paths import JoinEdge, JoinPath, best_paths
from dovetail.results import Rows

if TYPE_CHECKING:
    import networkx


_GRAPHML_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="columns" for="edge" attr.name="columns" attr.type="string"/>
<key id="other_columns" for="edge" attr.name="other_columns" attr.type="string"/>
<key id="score" for="edge" attr.name="score" attr.type="double"/>
<key id="containment" for="edge" attr.name="containment" attr.type="double"/>
<key id="decided" for="edge" attr.name="decided" attr.type="string"/>
<key id="declared" for="edge" attr.name="declared" attr.type="boolean"/>
<graph edgedefault="directed">
"""


EDGES = ("keys", "inds")
"""What the edges can be: likely foreign keys, or inclusion dependencies."""
_HTML = ".html"
_SHOWN_HUBS = 20
_PICTURED = 5_000  # edges that a notebook shows as a picture; arbitrary, about a megabyte
MOST = 20_000  # edges; arbitrary, what a browser explores with ease


@dataclass(frozen=True)
class Hub:
    """Columns that refer to each other, directly or not: one kind of thing, such as countries by code."""

    table: str  # which most of them refer to
    column: str
    tables: int
    columns: int
    edges: int

    def to_dict(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class Listed:
    """The edges of a graph with their reasons, as foreign keys are listed; their name, and what was left out."""

    noun: str
    edges: Callable[[], list[dict[str, Any]]]
    note: str = ""


class JoinGraph:
    """Tables by name and the edges between them."""

    def __init__(self, tables: Iterable[str], edges: list[JoinEdge], listed: Listed | None = None) -> None:
        self.tables = sorted(tables)
        self.edges = edges
        self._listed = listed

    def __repr__(self) -> str:
        return f"<join graph: {len(self.tables):,} tables, {len(self.edges):,} edges>"

    def _repr_html_(self) -> str:
        said = f"<p>{html.escape(repr(self)[1:-1])}; its largest hubs:</p>" + self.hubs()._repr_html_()
        if self._listed is None or len(self.edges) > _PICTURED:
            return said
        page = html.escape(self.to_html())
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 480px; border: 1px solid #ccc"></iframe>{said}'

    def explorer(self) -> dict[str, Any]:
        """What a page needs to explore it: tables, components, and edges with their reasons."""
        if self._listed is None:
            raise InputError("Only the graph of a lake can be explored: its edges have reasons.")
        hubs = self.hubs()[:_SHOWN_HUBS]
        return explorer_data(
            self._listed.edges(), self.tables, self.components(), [hub.to_dict() for hub in hubs], self._listed.noun,
            self._listed.note,
        )  # fmt: skip

    def to_html(self, title: str = "Join graph") -> str:
        """One HTML file to explore it in a browser, without a server: components, tables, edges with their reasons."""
        return explorer_page(self.explorer(), title)

    def components(self) -> list[list[str]]:
        """The connected tables, the largest component first; isolated tables are left out."""
        parts = _connected((edge.table, edge.other) for edge in self.edges if edge.table != edge.other)
        return sorted((sorted(part) for part in parts), key=lambda part: (-len(part), part))

    def hubs(self) -> Rows[Hub]:
        """Connected columns, the largest hub first: however many columns hold country codes, they are one hub."""
        ends = [((e.table, e.columns), (e.other, e.other_columns)) for e in self.edges]
        edges_of: Counter[Any] = Counter(other for _, other in ends)
        hubs = []
        for part in _connected(ends):
            table, columns = min(part, key=lambda end: (-edges_of[end], end))
            tables = len({table for table, _ in part})
            edges = sum(edges_of[end] for end in part)
            hubs.append(Hub(table, ", ".join(columns), tables, len(part), edges))
        return Rows(sorted(hubs, key=lambda hub: (-hub.columns, hub.table, hub.column)))

    def to_json(self) -> dict[str, Any]:
        """How many tables and edges there are, the components and the hubs, as `dovetail graph --json` prints them."""
        return {
            "tables": len(self.tables),
            "edges": len(self.edges),
            "components": self.components(),
            "hubs": self.hubs().to_dicts(),
        }

    def paths(self, start: str, end: str, hops: int = 3, k: int = 5) -> Rows[JoinPath]:
        """The `k` best ways to join one table with another, over at most `hops` joins."""
        if start == end:
            raise InputError(f"A path needs two different tables; both are {start}.")
        return Rows(best_paths(self.edges, start, end, hops, k))

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
                score=edge.score, containment=edge.containment, decided=edge.decided, declared=edge.declared,
            )  # fmt: skip
        return graph

    def write(self, path: str | Path) -> None:
        """Write nodes and edges as .graphml or .json, the edges as .parquet, a diagram as .mmd or .dbml, or .html."""
        check_suffix(Path(path), SUFFIXES)
        with whole_file(Path(path)) as draft:
            if Path(path).suffix == _HTML:
                draft.write_text(self.to_html(), encoding="utf-8")
            else:
                _WRITERS[Path(path).suffix](draft, self.tables, self.edges)


def join_graph(keys: ForeignKeys) -> JoinGraph:
    """The graph of all live tables and these foreign keys."""
    columns, found = keys.columns, keys.found
    names, kinds, tables = columns.names.to_pylist(), columns.kinds, columns.table_names.to_pylist()
    table_of = columns.table_of.tolist()

    def folded(one: int, other: int) -> bool:
        return bool(kinds[one] != kinds[other] or kinds[one] in ("text", "mixed"))

    offsets, dependent, referenced = found.offsets.tolist(), found.dependent.tolist(), found.referenced.tolist()
    scores, common, mine = found.score.tolist(), found.common.tolist(), found.mine.tolist()
    edges = []
    for place in range(len(found)):
        span = slice(offsets[place], offsets[place + 1])
        ones, others = dependent[span], referenced[span]
        edges.append(
            JoinEdge(
                tables[table_of[ones[0]]],
                tuple(names[column] for column in ones),
                tables[table_of[others[0]]],
                tuple(names[column] for column in others),
                scores[place],
                round(common[place] / max(1, mine[place]), 6),
                tuple(map(folded, ones, others)),
                keys.when(found, place),
                bool(found.evidence[place] & DECLARED),
            )
        )
    live = {tables[int(number)] for number in columns.table_of[columns.alive]}
    return JoinGraph(live, edges, Listed("likely foreign key", keys.to_dicts))


def _connected(pairs: Iterable[tuple[Any, Any]]) -> list[list[Any]]:
    """The connected components, by union and find."""
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


def _write_graphml(path: Path, tables: Sequence[str], edges: Sequence[JoinEdge]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(_GRAPHML_HEAD)
        for table in tables:
            file.write(f"<node id={quoteattr(_printable(table))}/>\n")
        for edge in edges:
            data = (
                {
                    "columns": ", ".join(edge.columns),
                    "other_columns": ", ".join(edge.other_columns),
                    "score": edge.score,
                    "containment": edge.containment,
                }
                | ({"decided": edge.decided} if edge.decided else {})
                | ({"declared": "true"} if edge.declared else {})
            )
            source, target = quoteattr(_printable(edge.table)), quoteattr(_printable(edge.other))
            cells = "".join(f'<data key="{key}">{escape(_printable(str(value)))}</data>' for key, value in data.items())
            file.write(f"<edge source={source} target={target}>{cells}</edge>\n")
        file.write("</graph>\n</graphml>\n")


def _printable(text: str) -> str:
    """XML allows no control characters, while names of files and columns may contain them."""
    return "".join(character if character >= " " else "\N{REPLACEMENT CHARACTER}" for character in text)


def _write_json(path: Path, tables: Sequence[str], edges: Sequence[JoinEdge]) -> None:
    answer = {"tables": list(tables), "edges": [edge.to_dict() for edge in edges]}
    path.write_text(json.dumps(answer, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _write_parquet(path: Path, tables: Sequence[str], edges: Sequence[JoinEdge]) -> None:
    names = pa.list_(pa.string())
    schema = pa.schema(
        [
            ("dependent_table", pa.string()),
            ("dependent_columns", names),
            ("referenced_table", pa.string()),
            ("referenced_columns", names),
            ("containment", pa.float64()),
            ("score", pa.float64()),
            ("decided", pa.string()),
            ("declared", pa.bool_()),
        ]
    )
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.Table.from_pylist([edge.to_dict() for edge in edges], schema), path)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


_WRITERS: dict[str, Callable[[Path, Sequence[str], Sequence[JoinEdge]], None]] = {
    ".graphml": _write_graphml,
    ".json": _write_json,
    ".parquet": _write_parquet,
    ".mmd": lambda path, _, edges: _write_text(path, mermaid(edges)),
    ".dbml": lambda path, _, edges: _write_text(path, dbml(edges)),
}
SUFFIXES = (*_WRITERS, _HTML)


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
