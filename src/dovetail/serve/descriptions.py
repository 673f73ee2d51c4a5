"""How OpenAPI describes the answers of REST, and the bodies that clients send."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, Field

from dovetail.serve.examples import described

Answer = dict[str, Any]


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


BYTES = {"type": "string", "format": "binary"}
EVENT = {
    "type": "object", "required": ["event", "data"],
    "properties": {"event": {"enum": ["hit", "end", "problem"]}, "data": {"type": "string"}},
}  # fmt: skip


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
