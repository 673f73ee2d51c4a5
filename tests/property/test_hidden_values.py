"""Somebody who has the folder of an index finds nothing of hidden values in it, at any time while it is built."""

from __future__ import annotations

import contextlib
import csv
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail
from dovetail._storage.pack import SUFFIX, Pack
from dovetail.errors import FormatMismatch
from dovetail.indexes.pexeso.core import text_ids
from dovetail.indexes.pieces.core import keys_of
from dovetail.normalise.keyed import KEY_VARIABLE, hash_key, hashed_values
from support.pipeline import index, without_spark

SYLLABLES = ("zorblax", "quivven", "mundrak", "plythe", "yomtar", "skelvig", "fendrix", "oxalmo")
planted_texts = st.lists(st.sampled_from(SYLLABLES), min_size=2, max_size=3).map(" ".join)
planted = st.one_of(
    planted_texts,
    planted_texts.map(str.title),
    st.integers(70_001_000, 79_999_999).map(str),
    st.dates().map(lambda day: f"{day:%Y-%m-%d}").filter(lambda day: day > "1900"),
)
columns = st.lists(planted, min_size=30, max_size=40)


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "a key of the tests, long enough")


def write_tables(folder: Path, secrets: list[str]) -> Path:
    """Two tables that share hidden values, in columns of several kinds of names."""
    lake = folder / "lake"
    lake.mkdir()
    for name, head, values in (("people", "Private Name", secrets), ("visits", "visitor_name", secrets[::-1] * 2)):
        with (lake / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["number", head, "town"])
            rows.writerows([place, value, f"Town {place % 5}"] for place, value in enumerate(values))
    return lake


def everything_in(folder: Path) -> str:
    """All bytes of all files, and what is compressed in them, in lower case."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found.append(path.read_bytes().decode("latin-1"))
            found.append(path.name)
            with contextlib.suppress(pa.ArrowInvalid, pa.ArrowSerializationError, OSError):
                found.append(str(pa.ipc.open_file(path).read_all().to_pydict()))
            if path.suffix == SUFFIX and path.stem == "catalog":
                pack = Pack(path, "catalog", 2)
                tables = (pa.ipc.open_file(pa.py_buffer(pack[name])).read_all() for name in pack.names())
                found += [str(table.to_pydict()) for table in tables]
    return "\n".join(found).casefold()


def all_tokens(to: Path) -> list[str]:
    return [
        token
        for segment in dovetail.open(to).segments
        for token in segment.tokens.tokens(np.arange(segment.tokens.arrays.tokens)).to_pylist()
    ]


def traces_of(secrets: list[str]) -> set[str]:
    """Values, and words of them that are nowhere else."""
    return {part.casefold() for value in secrets for part in (value, *value.split())}


@settings(max_examples=8)
@given(columns, st.sampled_from(["--hash", "--exclude"]), st.sampled_from([10_000_000, 100]))
def test_an_index_does_not_have_hidden_values(secrets: list[str], rule: str, megabyte: int) -> None:
    """With a megabyte of 100 bytes, tables are staged in slices, spilled and built in stages."""
    looked = 0

    @contextlib.contextmanager
    def looking(_: str) -> Iterator[None]:
        nonlocal looked
        yield
        seen = everything_in(to)
        assert not [trace for trace in traces_of(secrets) if trace in seen]
        looked += 1

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        lake, to = write_tables(folder, secrets), folder / "idx"
        rules: dict[str, Any] = {"hash_columns" if rule == "--hash" else "exclude_columns": ("*NAME*",)}
        with without_spark(megabyte, looking):
            index(lake, to, **rules)
        assert looked > 1
        assert "town 1" in all_tokens(to)
        everything = everything_in(to) + "\n".join(all_tokens(to))
        assert not [trace for trace in traces_of(secrets) if trace in everything]
        assert not (set(pieces_of(to)) & set(keys_of(pa.array(secrets))[0].tolist()) - set(pieces_of_towns()))
        assert texts_of(to) <= {f"town {n}" for n in range(5)}


def pieces_of(to: Path) -> Iterator[int]:
    for segment in dovetail.open(to).segments:
        yield from segment.segment.pack("pieces").unpacked("piece_hashes").tolist()


def pieces_of_towns() -> list[int]:
    found: list[int] = keys_of(pa.array([f"town {n}" for n in range(5)] + [str(n) for n in range(100)]))[0].tolist()
    return found


def texts_of(to: Path) -> set[str]:
    return {
        token
        for segment in dovetail.open(to).segments
        for token in segment.tokens.tokens(text_ids(segment.segment)).to_pylist()
    }


PARTS_OF_TOKENS = ("tokens", "josie", "lsh_ensemble", "rows", "mate")


def packs_of(to: Path, names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    (segment,) = dovetail.open(to).segments
    packs = {name: segment.segment.pack(name) for name in names}
    return {
        name: {each: array_of(pack, each).tolist() for each in pack.names() if each != "costs"}  # they are measured
        for name, pack in packs.items()
    }


def array_of(pack: Pack, name: str) -> Any:
    try:
        return pack[name]
    except FormatMismatch:  # its numbers are packed
        return pack.unpacked(name)


@settings(max_examples=4)
@given(columns)
def test_a_hidden_column_is_indexed_as_if_the_file_were_without_its_values(secrets: list[str]) -> None:
    """Left out: the index of a file without the column. Hashed: that of a file with hashes in the place of values, but
    for the parts that compare spellings, which are as if the column were left out."""
    hashed = hashed_values(pa.array(secrets), hash_key() or b"").to_pylist()
    files = {
        "whole": [["id", "secret", "town"], *([str(n), value, f"T{n % 5}"] for n, value in enumerate(secrets))],
        "without": [["id", "town"], *([str(n), f"T{n % 5}"] for n in range(len(secrets)))],
        "hashes": [["id", "secret", "town"], *([str(n), value, f"T{n % 5}"] for n, value in enumerate(hashed))],
    }
    with tempfile.TemporaryDirectory() as scratch, without_spark():
        for name, rows in files.items():
            folder = Path(scratch, name)
            folder.mkdir()
            with (folder / "t.csv").open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows(rows)
        indexes = {name: Path(scratch, f"{name}.idx") for name in ("excluded", "without", "hashed", "hashes")}
        index(Path(scratch, "whole"), indexes["excluded"], exclude_columns=("t.csv:sec*",))
        index(Path(scratch, "without"), indexes["without"])
        index(Path(scratch, "whole"), indexes["hashed"], hash_columns=("secret",))
        index(Path(scratch, "hashes"), indexes["hashes"])
        all_parts = (*PARTS_OF_TOKENS, "pieces", "pexeso")
        assert packs_of(indexes["excluded"], all_parts) == packs_of(indexes["without"], all_parts)
        assert packs_of(indexes["hashed"], PARTS_OF_TOKENS) == packs_of(indexes["hashes"], PARTS_OF_TOKENS)
        assert list(pieces_of(indexes["hashed"])) == list(pieces_of(indexes["without"]))
        assert texts_of(indexes["hashed"]) == texts_of(indexes["without"])
        profiles = [dovetail.open(indexes[name]).table("t.csv").columns for name in ("excluded", "without")]
        assert [column.record for column in profiles[0]] == [column.record for column in profiles[1]]
