"""The join graph as a file: GraphML for graph tools, JSON for pages, Parquet for tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa
import pyarrow.parquet

from dovetail._output import whole_file

if TYPE_CHECKING:
    from dovetail.graph.network import Edge

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="columns" for="edge" attr.name="columns" attr.type="string"/>
<key id="other_columns" for="edge" attr.name="other_columns" attr.type="string"/>
<key id="score" for="edge" attr.name="score" attr.type="double"/>
<key id="containment" for="edge" attr.name="containment" attr.type="double"/>
<graph edgedefault="directed">
"""


def write_graph(path: Path, tables: Sequence[str], edges: Sequence[Edge]) -> None:
    with whole_file(path) as draft:
        _WRITERS[path.suffix](draft, tables, edges)


def _row(edge: Edge) -> dict[str, Any]:
    return {
        "dependent_table": edge.table,
        "dependent_columns": list(edge.columns),
        "referenced_table": edge.other,
        "referenced_columns": list(edge.other_columns),
        "containment": edge.containment,
        "score": edge.score,
    }


def _write_graphml(path: Path, tables: Sequence[str], edges: Sequence[Edge]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(_HEAD)
        for table in tables:
            file.write(f"<node id={quoteattr(_printable(table))}/>\n")
        for edge in edges:
            data = {
                "columns": ", ".join(edge.columns),
                "other_columns": ", ".join(edge.other_columns),
                "score": edge.score,
                "containment": edge.containment,
            }
            source, target = quoteattr(_printable(edge.table)), quoteattr(_printable(edge.other))
            cells = "".join(f'<data key="{key}">{escape(_printable(str(value)))}</data>' for key, value in data.items())
            file.write(f"<edge source={source} target={target}>{cells}</edge>\n")
        file.write("</graph>\n</graphml>\n")


def _printable(text: str) -> str:
    """XML has no place for control characters, and names of files and columns may have them."""
    return "".join(character if character >= " " else "\N{REPLACEMENT CHARACTER}" for character in text)


def _write_json(path: Path, tables: Sequence[str], edges: Sequence[Edge]) -> None:
    answer = {"tables": list(tables), "edges": [_row(edge) for edge in edges]}
    path.write_text(json.dumps(answer, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _write_parquet(path: Path, tables: Sequence[str], edges: Sequence[Edge]) -> None:
    names = pa.list_(pa.string())
    schema = pa.schema(
        [
            ("dependent_table", pa.string()),
            ("dependent_columns", names),
            ("referenced_table", pa.string()),
            ("referenced_columns", names),
            ("containment", pa.float64()),
            ("score", pa.float64()),
        ]
    )
    pyarrow.parquet.write_table(pa.Table.from_pylist([_row(edge) for edge in edges], schema), path)


_WRITERS: dict[str, Callable[[Path, Sequence[str], Sequence[Edge]], None]] = {
    ".graphml": _write_graphml,
    ".json": _write_json,
    ".parquet": _write_parquet,
}
SUFFIXES = tuple(_WRITERS)
