"""JSON documents and JSON lines."""

from __future__ import annotations

from targets.files import read_members, read_whole, seed, split

_SUFFIXES = (".json", ".jsonl")
SEEDS = [
    seed(0, b'[{"a": 1, "b": {"c": [1, 2]}}, {"a": 2, "b": null}]'),
    seed(0, b'{"x": {"a": 1.50}, "y": {"a": 2e3}}'),
    seed(0, b'{"rows": [{"id": "a", "parts": [{"n": 1}]}, {"id": "b", "parts": []}], "n": 1}'),
    seed(1, b'{"a": 1}\n{"a": "\\u00e9", "b": [true]}\n"text"\n'),
]


def check(data: bytes) -> None:
    suffix, content = split(data, _SUFFIXES)
    if suffix == ".json":
        read_members("document.json", content)
    else:
        read_whole("lines.jsonl", content)
