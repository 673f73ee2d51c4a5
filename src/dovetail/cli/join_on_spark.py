"""`dovetail join --master`: tables that do not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dovetail.cli.files import save_transformation
from dovetail.cli.interrupt import stops_in_order
from dovetail.cli.join_options import JoinOptions
from dovetail.cli.options import conf_of
from dovetail.cli.output import count, echo, print_json
from dovetail.errors import InputError
from dovetail.join.execute import condition_of
from dovetail.join.request import JoinRequest, columns_and_method

if TYPE_CHECKING:
    from dovetail.join.spark import SparkJoin


def join_on_spark(asked: JoinOptions, request: dict[str, Any]) -> int:
    """Write the joined rows to a file and print what was joined. Returns the exit code."""
    joined = _joined(asked, _checked(asked, request))
    if asked.save:
        save_transformation(joined.transformation, asked.save)
    if asked.as_json:
        print_json(joined.report)
    else:
        echo("\n".join([*_report_lines(joined), f"Written: {asked.output}"]))
    return 0 if joined.matched_left else 1


def _checked(asked: JoinOptions, request: dict[str, Any]) -> JoinRequest:
    if asked.pairs or asked.mapping or asked.explain or asked.to_standard_output:
        raise InputError("--master writes rows to -o; drop --pairs, --mapping, --explain, --csv and --nl.")
    names = ("on", "left_on", "right_on", "by")
    on, by = columns_and_method(*(request[name] for name in names))
    checked = JoinRequest(on, by=by, **{name: value for name, value in request.items() if name not in names})
    if len(asked.tables) > 2 or not asked.output or (checked.on is None and checked.by is None):
        raise InputError("--master needs two tables, -o, and --on, --by or --program.")
    return checked


def _joined(asked: JoinOptions, request: JoinRequest) -> SparkJoin:
    from dovetail._spark.session import SparkRequest
    from dovetail.api.lake import Lake
    from dovetail.join.spark import join_on_spark

    segments = Lake(asked.index).segments if asked.index and request.by == "through" else None
    spark = SparkRequest(None, asked.master, conf_of(asked.conf))
    assert asked.output is not None  # as checked
    with stops_in_order():
        return join_on_spark(asked.left, asked.right, request, asked.output, spark, segments)


def _report_lines(joined: SparkJoin) -> Iterator[str]:
    yield (
        f"{count(joined.rows, 'row')}: {joined.how} join by {joined.by}. {joined.matched_left:,} of "
        f"{joined.left_rows:,} rows on the left match {joined.matched_right:,} of {joined.right_rows:,} on the right."
    )
    yield f"Columns: {condition_of(joined.columns)}. {joined.why}"
    if joined.transformation:
        yield f"Transformation: {joined.transformation}"
