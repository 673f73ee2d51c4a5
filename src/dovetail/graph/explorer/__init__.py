"""A join graph to explore in a browser: as data, and as one HTML file that needs no server.

MANY (section 6): connected components first, then the tables of one, then the dependencies of a table.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from importlib import resources
from typing import Any

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{title}</title>
<style>
html, body {{ height: 100%; margin: 0; }}
{style}
</style>
</head>
<body>
<div id="explorer"></div>
<script>
{script}
</script>
<script id="graph" type="application/json">{data}</script>
<script>
const root = document.getElementById("explorer");
root.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
dovetailExplorer(root, JSON.parse(document.getElementById("graph").textContent));
</script>
</body>
</html>
"""


def explorer_data(
    keys: Iterable[dict[str, Any]], tables: list[str], components: list[list[str]], hubs: list[dict[str, Any]],
    noun: str, note: str,
) -> dict[str, Any]:  # fmt: skip
    """What the explorer shows: tables and phrases are named once, and by their number elsewhere.

    `keys` are edges as foreign keys are listed; `noun` is what one is called, `note` what was left out.
    """
    number = {table: place for place, table in enumerate(tables)}
    phrases: dict[str, int] = {}
    edges = [
        {
            "from": number[key["dependent_table"]],
            "to": number[key["referenced_table"]],
            "columns": ", ".join(key["dependent_columns"]),
            "other_columns": ", ".join(key["referenced_columns"]),
            "score": round(key["score"], 3),
            "reasons": _numbered(key["reasons"], phrases),
        }
        for key in keys
    ]
    parts = [[number[table] for table in part] for part in components]
    return {
        "tables": tables, "components": parts, "hubs": hubs, "edges": edges, "phrases": list(phrases), "noun": noun,
        "note": note,
    }  # fmt: skip


def _numbered(texts: Iterable[str], known: dict[str, int]) -> list[int]:
    return [known.setdefault(text, len(known)) for text in texts]


def explorer_page(data: dict[str, Any], title: str) -> str:
    """One HTML file with everything in it; it loads nothing."""
    # "</script>" in a name would end the data; as JSON, "<" may also be written as an escape.
    inlined = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return _PAGE.format(
        title=html.escape(title), style=asset("explorer.css"), script=asset("explorer.js"), data=inlined
    )


def asset(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
