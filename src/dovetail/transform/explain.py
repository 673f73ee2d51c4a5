"""A program in words, in Python, and as an expression of DuckDB and of Spark."""

from __future__ import annotations

from dovetail.transform.program import Constant, Extract, Program, Step

_SPECIAL = set("\\^$.|?*+()[]{}-")
_PYTHON_TITLE = '" ".join(word[:1].upper() + word[1:].lower() for word in {}.split(" "))'
_DUCKDB_TITLE = (
    "array_to_string(list_transform(string_split({}, ' '), lambda word: upper(word[1:1]) || lower(word[2:])), ' ')"
)


def explained(program: Program) -> dict[str, str | None]:
    """The program in words, in Python, and as expressions of DuckDB and Spark; None where Spark has none."""
    return {
        "words": program.words,
        "python": as_python(program),
        "duckdb": as_duckdb(program),
        "spark": as_spark(program),
    }


def as_python(program: Program) -> str:
    """An expression over a dict `row`; it raises an error, or gives less text, if the program gives null.

    The names of forms are those of `dovetail.transform.forms`.
    """
    return " + ".join(_python(step) for step in program.steps)


def as_duckdb(program: Program) -> str:
    return " || ".join(_duckdb(step) for step in program.steps)


def as_spark(program: Program) -> str | None:
    """For `pyspark.sql.functions.expr`: plain column expressions; None for a program with forms."""
    if program.has_forms:
        return None
    return f"concat({', '.join(_spark(step) for step in program.steps)})"


def _python(step: Step) -> str:
    if isinstance(step, Constant):
        return repr(step.text)
    text = f"row[{step.column!r}]"
    for split in step.splits:
        pieces = f"{text}.split({split.separator!r})"
        if split.first == split.last:
            text = f"{pieces}[{split.first}]"
        else:
            end = "" if split.last == -1 else split.last + 1
            text = f"{split.separator!r}.join({pieces}[{split.first}:{end}])"
    if (step.start, step.stop) != (0, None):
        text += f"[{step.start or ''}:{'' if step.stop is None else step.stop}]"
    if step.form is not None:
        text = f"{step.form!r}.apply({text})"
    if step.case == "title":
        return _PYTHON_TITLE.format(text)
    return text if step.case == "as is" else f"{text}.{step.case}()"


def _duckdb(step: Step) -> str:
    if isinstance(step, Constant):
        return _quoted(step.text)
    text = '"{}"'.format(step.column.replace('"', '""'))
    for split in step.splits:
        pieces = f"string_split({text}, {_quoted(split.separator)})"
        if split.first == split.last:
            text = f"{pieces}[{split.first + 1 if split.first >= 0 else split.first}]"
        else:
            places = "1:-2" if split.first == 0 else "2:-1"
            text = f"array_to_string({pieces}[{places}], {_quoted(split.separator)})"
    if (step.start, step.stop) != (0, None):
        first = step.start + 1 if step.start >= 0 else step.start
        last = -1 if step.stop is None else step.stop if step.stop >= 0 else step.stop - 1
        text = f"({text})[{first}:{last}]"
    text = f"nullif({text}, '')"
    return _cased(step, text if step.form is None else step.form.duckdb(text), _DUCKDB_TITLE)


def _spark(step: Step) -> str:
    if isinstance(step, Constant):
        return _spark_quoted(step.text)
    text = "`{}`".format(step.column.replace("`", "``"))
    for split in step.splits:
        if split.first == split.last:
            place = split.first + 1 if split.first >= 0 else split.first
            text = f"split_part({text}, {_spark_quoted(split.separator)}, {place})"
        else:
            separator = "".join(f"\\{sign}" if sign in _SPECIAL else sign for sign in split.separator)
            pattern = f"(?s)^(.*){separator}" if split.first == 0 else f"(?s)^.*?{separator}(.*)$"
            text = f"regexp_extract({text}, {_spark_quoted(pattern)}, 1)"
    return _cased(step, f"nullif({_spark_slice(text, step.start, step.stop)}, '')", "initcap({})")


def _spark_slice(text: str, start: int, stop: int | None) -> str:
    if start < 0:
        return _spark_slice(f"right({text}, {-start})", 0, stop)
    if stop is not None and stop < 0:
        return _spark_slice(f"substring({text}, 1, length({text}) - {-stop})", start, None)
    if stop is not None:
        return f"substring({text}, {start + 1}, {max(stop - start, 0)})"
    return text if start == 0 else f"substring({text}, {start + 1})"


def _cased(step: Extract, text: str, title: str) -> str:
    if step.case == "as is":
        return text
    return title.format(text) if step.case == "title" else f"{step.case}({text})"


def _quoted(text: str) -> str:
    return "'{}'".format(text.replace("'", "''"))


def _spark_quoted(text: str) -> str:
    return "'{}'".format(text.replace("\\", "\\\\").replace("'", "\\'"))
