"""JSON documents with some of their values replaced: of bytes that are changed anywhere, few are JSON still."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1, 7, 2**31, 2**63, 2**64, -(2**70), 0.5, 1e308, float("inf"), float("nan"), "", "a", "../a",
    "a/b", "\0", "\ud800", "<f8", "|O", "x" * 300, [], {}, [[]], [0, 0], [-1, 2**62], {"a": 1},
)  # fmt: skip
_OTHERS = 64  # numbers from which on a value is that of another place of the document, or is taken out


def changed(document: Any, choices: bytes) -> bytes:
    """The document as JSON, with a value in another's place for every two bytes: which one, and what."""
    document = copy.deepcopy([document])
    for place, value in zip(choices[::2], choices[1::2], strict=False):
        places = list(_places(document))
        inside, key = places[place % len(places)]
        if value < _OTHERS:
            inside[key] = copy.deepcopy(_VALUES[value % len(_VALUES)])
        elif value % 4 or inside is document:
            other, name = places[value % len(places)]
            inside[key] = copy.deepcopy(other[name])
        else:
            del inside[key]
    return json.dumps(document[0]).encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a document, as what it is in and its key there."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])
