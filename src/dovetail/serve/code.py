"""The steps that made a table, as programs to paste."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dovetail.serve.kept import is_kept

_NOT_OPTIONS = ("verb", "table", "with", "state", "program")


def python_code(index: str, history: Sequence[dict[str, Any]]) -> str:
    """For Python: the last frame has the rows."""
    first = history[0]
    read = (
        f"pd.read_csv({first['title']!r})" if is_kept(first["table"]) else f"lake.table({first['table']!r}).to_arrow()"
    )
    return "\n".join([*_head(index, "import duckdb", "import pandas as pd"), f"mine = {read}", *_python_steps(history)])


def _python_steps(history: Sequence[dict[str, Any]]) -> Iterator[str]:
    for step in (table["step"] for table in history[1:]):
        if step["verb"] == "sql":
            yield f"result = mine\nmine = duckdb.sql({step['query']!r}).to_arrow_table()"
            continue
        options = _options(step)
        if "program" in step:
            options += f", by=dovetail.Transformation.from_json({step['program']!r})"
        yield f"mine = lake.join(mine, {step['with']!r}{options}).frame"


def spark_code(index: str, history: Sequence[dict[str, Any]]) -> str | None:
    """For PySpark, with a session `spark`; None where a step needs more than equal values in named columns."""
    joins = [table["step"] for table in history[1:] if table["step"]["verb"] == "join"]
    if any("on" not in step or set(step) - {"on", "how", *_NOT_OPTIONS[:4]} or is_kept(step["with"]) for step in joins):
        return None
    first = history[0]
    path = repr(first["title"]) if is_kept(first["table"]) else _path(first["table"])
    lines = [*_head(index), f"mine = {path}"]
    for step in (table["step"] for table in history[1:]):
        if step["verb"] == "sql":
            lines.append(f"mine.createOrReplaceTempView('result')\nmine = spark.sql({step['query']!r})")
        else:
            lines.append(f"mine = dovetail.join_on_spark(mine, {_path(step['with'])}{_options(step)}, spark=spark)")
    return "\n".join(lines)


def _head(index: str, *more: str) -> list[str]:
    return [*more, "", "import dovetail", "", f"lake = dovetail.open({index!r})"]


def _path(table: str) -> str:
    return f"lake.table({table!r}).record.path"


def _options(step: dict[str, Any]) -> str:
    return "".join(f", {name}={value!r}" for name, value in step.items() if name not in _NOT_OPTIONS)
