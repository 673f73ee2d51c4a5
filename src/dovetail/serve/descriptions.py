"""How OpenAPI describes the answers of REST, and the bodies that clients send.

The schema of an answer is made of an example: each value stands for all values of its type.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, Field

_CAPITALS, _COUNTRIES = "geo/capitals.csv", "geo/countries.csv"
_WHEN = "2026-11-16T09:30:00Z"
_ON = {"left": "country", "right": "name"}
_FOR, _AGAINST = ["the names correspond"], ["few other columns have these values"]
_KEPT = "result-0123456789abcdef01234567"
_PAIR = {
    "value": "peru", "partner": "lima", "support": 1.5, "probability": 0.98, "tables": [_COUNTRIES],
    "alternatives": [{"value": "peru", "partner": "cusco", "probability": 0.1}],
}  # fmt: skip
_PROGRAM = {
    "steps": [{}], "words": 'the first word of column "name"', "python": 'row["name"].split(" ")[0]',
    "duckdb": "split_part(name, ' ', 1)", "spark": "split(name, ' ')[0]",
}  # fmt: skip
_RUNNER_UP = {
    "by": "equal", "left_columns": ["city"], "right_columns": ["capital"], "condition": "city = capital",
    "probability": 0.6, "reasons": _FOR, "objections": _AGAINST, "pairs": 200, "matched_left": 200,
    "matched_right": 200,
}  # fmt: skip
_UNCERTAIN = {"left": "Ivory Coast", "right": "Côte d'Ivoire", "similarity": 0.61}
_ENDS = {
    "dependent_table": _CAPITALS, "dependent_columns": ["country"], "referenced_table": _COUNTRIES,
    "referenced_columns": ["name"],
}  # fmt: skip
_DECLARED = {
    "primary": ["name"], "unique": [["name"]],
    "foreign": [{"columns": ["name"], "table": "geo/names.csv", "referenced": ["name"]}],
}  # fmt: skip
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}
Answer = dict[str, Any]
BYTES = {"type": "string", "format": "binary"}
EVENT = {
    "type": "object", "required": ["event", "data"],
    "properties": {"event": {"enum": ["hit", "end", "problem"]}, "data": {"type": "string"}},
}  # fmt: skip


@dataclass(frozen=True)
class OrNull:
    """A value that may also be null."""

    example: Any


@dataclass(frozen=True)
class Anything:
    """A value of any type."""

    example: Any


_THEN = OrNull({"table": _COUNTRIES, "left_column": "name", "right_column": "capital"})
_BRIDGE = {
    "table": _COUNTRIES, "left_column": "name", "right_column": "capital", "pairs": 188, "weight": 0.75, "then": _THEN,
}  # fmt: skip
_HIT = {
    "rank": 1, "table": _COUNTRIES, "by": "equal", "on": ["country"], "columns": ["name"], "score": 0.97,
    "probability": OrNull(0.97), "overlap": 188, "containment": 0.77, "jaccard": 0.6, "query_size": 245,
    "column_size": 252, "exact": True, "cardinality": "1:1", "query_rows": 245, "matched_rows": 188, "table_rows": 252,
    "matched_table_rows": 188, "joined_rows": 188, "matched": ["Peru"], "unmatched": ["England"],
    "only_there": ["Bonaire"], "brings": ["capital"], "reasons": _FOR, "objections": _AGAINST,
    "copies": ["geo/countries-2019.csv"], "decided": OrNull(_WHEN), "declared": False, "gain": OrNull(0.2),
    "helps": [{"column": "population", "gain": 0.2}], "union": OrNull(0.1), "rather": "join", "rows_per_match": 1.0,
    "warning": OrNull("2.0 rows per match: 376 rows from 188 of yours"),
}  # fmt: skip
_ROWS = {
    "table": _KEPT, "title": "capitals.csv + countries.csv", "rows": 188, "columns": ["country", "city"], "offset": 0,
    "data": [[Anything("Peru"), Anything("Lima")]],
}  # fmt: skip
_JOIN = {
    "by": "equal", "how": "inner", "on": [_ON], "left_columns": ["country"], "right_columns": ["name"],
    "why": "The columns were given.", "probability": OrNull(0.97), "decided": OrNull(_WHEN), "declared": False,
    "runners_up": [_RUNNER_UP],
    "rows": 188, "pairs": 188, "equal_pairs": 188, "transformed_pairs": 0, "similar_pairs": 0, "through_pairs": 0,
    "decided_pairs": 0, "cardinality": "1:1", "left_rows": 245, "right_rows": 252, "matched_left": 188,
    "matched_right": 188, "unmatched_left": 57, "unmatched_right": 64, "repeated_left": 0, "repeated_right": 0,
    "unmatched_left_sample": ["England"], "unmatched_right_sample": ["Bonaire"], "least_similar": [_UNCERTAIN],
    "prefer": OrNull("key"), "score": OrNull(0.9), "complete": True, "transformed": OrNull("left"),
    "programs": [_PROGRAM], "bridges": [_BRIDGE], "disputed": [_PAIR], "key": OrNull("the first word"),
    "sql": OrNull("SELECT …"), "order": [0, 1], "steps": [{}], "seconds": 0.02,
    "sentence": "188 rows: inner join on country = name (equal values), 1:1.", "program": OrNull({}),
    "uncertain": [_UNCERTAIN], "table": OrNull(_KEPT), "columns": ["country", "city"],
    "data": [[Anything("Peru"), Anything("Lima")]],
}  # fmt: skip
_DEPENDENCY = {**_ENDS, "containment": 1.0, "coverage": 0.97, "score": 0.93, "decided": OrNull(_WHEN)}
_TABLE = {"table": _COUNTRIES, "rows": 252, "columns": 8, "bytes": 31_000, "error": OrNull("not a table: prose")}
_COLUMN = {
    "column": "name", "type": "text", "rows": 252, "nulls": 0, "distinct": 252, "unique": True, "uniqueness": 1.0,
    "key": True, "raw_distinct": 252, "min": OrNull("afghanistan"), "max": OrNull("zimbabwe"),
    "mean_length": OrNull(9.6), "max_length": 44, "number_share": OrNull(0.0), "top": [{"value": "Peru", "rows": 1}],
    "sample": ["Andorra"], "declared": OrNull(_DECLARED),
}  # fmt: skip
_STEP = {"table": _KEPT, "title": "capitals.csv + countries.csv", "rows": 188, "columns": ["country"],
         "step": OrNull({"verb": "join", "table": _CAPITALS})}  # fmt: skip
_DECISION = {
    "left_table": _CAPITALS, "left_columns": ["country"], "right_table": _COUNTRIES, "right_columns": ["name"],
    "verdict": "joins", "note": OrNull("by hand"), "decided": _WHEN, "values": OrNull(["Ivory Coast", "Côte d'Ivoire"]),
    "missing": ["geo/old.csv"],
}  # fmt: skip

EXAMPLES: dict[str, Any] = {
    "search": {
        "query": _CAPITALS, "by": "equal", "question": "overlap", "exact": True, "seconds": 0.1,
        "note": OrNull("3 values are not texts"), "hits": [_HIT],
        "to_append": [{"table": "geo/more-capitals.csv", "probability": 0.8}],
        "sentence": OrNull("No table joins well with notes.csv."),
    },
    "union": {
        "query": _CAPITALS, "seconds": 0.1, "sentence": OrNull("No table of the lake has rows to append."),
        "hits": [{
            "rank": 1, "table": _COUNTRIES, "probability": 0.8,
            "columns": [{"mine": "country", "theirs": "name", "probability": 0.9}], "only_mine": ["city"],
            "only_theirs": ["code"], "rows": 252, "common_rows": 3, "relation": OrNull("version"), "reasons": _FOR,
            "objections": _AGAINST,
        }],
    },
    "join": _JOIN,
    "sql": _ROWS,
    "map": {"pairs": [_PAIR], "tables": [_BRIDGE], "values": 245},
    "predicates": {
        "prefer": "probability", "complete": True,
        "predicates": [{
            "pairs": [{**_ON, "left_table": 0, "right_table": 1}], "score": 0.98, "joined_rows": 188,
            "matched_rows": [188, 188], "groups": 188, "decided": OrNull(_WHEN), "declared": False,
        }],
    },
    "keys": [{"table": _COUNTRIES, "columns": ["code"], "distinct": 252, "score": 0.9, "reasons": _FOR}],
    "foreign_keys": [{**_DEPENDENCY, "declared": False, "reasons": _FOR}],
    "inds": [_DEPENDENCY],
    "paths": [{
        "tables": [_CAPITALS, _COUNTRIES], "score": 0.93, "sql": "SELECT …",
        "joins": [{**_ENDS, "cardinality": "N:1", "score": 0.93, "decided": OrNull(_WHEN), "declared": False,
                   "bridges": [_BRIDGE]}],
    }],
    "graph": {
        "tables": 59, "edges": 18, "components": [[_CAPITALS, _COUNTRIES]],
        "hubs": [{"table": _COUNTRIES, "column": "name", "tables": 8, "columns": 9, "edges": 8}],
    },
    "tables": {"total": 59, "tables": [_TABLE]},
    "table": {"table": _COUNTRIES, "rows": 252, "columns": [_COLUMN]},
    "rows": _ROWS,
    "find": {"total": 3, "columns": [{"table": _COUNTRIES, "column": "name", "type": "text", "rows": 1}]},
    "history": [_STEP],
    "decisions": [_DECISION],
    "decide": _DECISION,
    "forget": _DECISION,
    "upload": {**_STEP, "table": "upload-0123456789abcdef01234567", "data": [[Anything("Peru"), Anything(4)]]},
    "info": {
        "path": "./idx", "generation": 1, "segments": 1, "dead_tables": 0, "tables": 59, "columns": 431, "rows": 61_204,
        "values": 88_310, "values_are_exact": True, "bytes": 2_900_000, "index_bytes": 3_400_000,
        "index_bytes_by_part": {}, "roots": [{}], "settings": {},
    },
}  # fmt: skip


def described(verb: str) -> dict[str, Any]:
    """The description of an answer for OpenAPI: its schema, and the example."""
    example = EXAMPLES[verb]
    return {"content": {"application/json": {"schema": schema_of(example), "example": plain(example)}}}


def schema_of(example: Any) -> dict[str, Any]:
    """The JSON schema of all answers like the example. Keys may be added; an empty object may hold anything."""
    if isinstance(example, Anything):
        return {}
    if isinstance(example, OrNull):
        return {"anyOf": [schema_of(example.example), {"type": "null"}]}
    if isinstance(example, dict):
        keys = {name: schema_of(value) for name, value in example.items()}
        return {"type": "object", "properties": keys, "required": list(keys)} if keys else {"type": "object"}
    if isinstance(example, list):
        return {"type": "array", "items": schema_of(example[0])}
    return {"type": _TYPES[type(example)]}


def plain(example: Any) -> Any:
    """The example as the answer would be."""
    if isinstance(example, OrNull | Anything):
        return plain(example.example)
    if isinstance(example, dict):
        return {name: plain(value) for name, value in example.items()}
    return [plain(value) for value in example] if isinstance(example, list) else example


class Problem(BaseModel):
    """What went wrong, in one sentence."""

    error: str = Field(examples=['There is no table "geo/contries.csv". Did you mean "geo/countries.csv"?'])


class DecisionBody(BaseModel):
    """Columns of two tables of the lake that join, or never do."""

    left: str = Field(min_length=1, max_length=2_000, examples=["geo/countries.csv"])
    right: str = Field(min_length=1, max_length=2_000, examples=["geo/capitals.csv"])
    on: str = Field(min_length=1, max_length=2_000, examples=["name=country"])
    verdict: Literal["joins", "never"] = Field(examples=["joins"])
    note: str = Field("", max_length=1_000)
    values: Annotated[list[str], Field(min_length=2, max_length=2)] | None = Field(
        None, description="A value of the left column and one of the right: the decision is about these alone.",
        examples=[["Ivory Coast", "Côte d'Ivoire"]],
    )  # fmt: skip


PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": text}
    for status, text in {
        400: "The question cannot be answered as given.",
        401: "A token is needed.",
        403: "The request comes from elsewhere, or the server only answers questions.",
        404: "There is no such table or column.",
        410: "The table is not kept any more.",
        411: "The length of the body is missing.",
        413: "A limit of the server: rows, bytes or memory.",
        422: "A parameter is missing or has another form.",
        503: "The server is busy.",
        504: "The question takes too long.",
    }.items()
}


class Events(StreamingResponse):
    media_type = "text/event-stream"


class AnyFile(Response):
    media_type = None


def media(schema: Answer, *types: str) -> dict[int | str, dict[str, Any]]:
    """The description of answers of other types; their failures are JSON all the same."""
    problem = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    failures = {status: {"description": each["description"], "content": problem} for status, each in PROBLEMS.items()}
    return {200: {"content": {each.partition(";")[0]: {"schema": schema} for each in types}}, **failures}


def description_of(answer: Callable[..., Any]) -> dict[str, Any]:
    """How OpenAPI knows an answer: by the name of its verb, with its schema and an example."""
    verb = answer.__name__
    return {"operation_id": verb, "response_model": None, "responses": {200: described(verb)}}


def as_json(answer: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Response]]:
    """Answers are plain values already: they need no second look at each of them."""

    @functools.wraps(answer)
    async def answered(**options: Any) -> Response:
        return JSONResponse(await answer(**options))

    return answered
