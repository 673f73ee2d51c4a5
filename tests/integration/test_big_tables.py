"""Tables above the slice size go through prepare, stage and build, and come out as if they had fitted into memory."""

from __future__ import annotations

import errno
import gzip
import json
import os
import random
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dovetail._storage.directory import open_snapshot
from dovetail._storage.store import open_store
from dovetail.api.lake import Lake
from dovetail.errors import BuildFailed
from dovetail.indexes.pieces.build import PiecesBuilder
from dovetail.indexes.tokens.format import TokenArrays
from dovetail.indexes.verify import verify_index
from dovetail.lake import blocks
from dovetail.pipeline import jobs, reading, stages, tasks, work
from dovetail.pipeline.tasks import attempt
from dovetail.settings import Settings
from support.buckets import buckets_in_memory
from support.contents import contents_of, leftovers
from support.pipeline import by_one_task, index, without_spark
from support.processes import dovetail

SMALL = 20_000  # bytes of a "megabyte": files of some hundred kilobytes are then cut many times
ROWS = 6_000
ADDRESS = "s3://bucket/index"


def rows() -> list[dict[str, object]]:
    """Columns whose type, range and most frequent values only all slices together tell."""
    chance = random.Random(7)
    found = []
    for i in range(ROWS):
        found.append(
            {
                "id": i,
                "late text": "x7" if i == ROWS - 5 else str(i % 100),  # one word at the end makes it no number
                "zeros late": "007" if i > ROWS - 50 else str(i % 1_000),
                "long id": str(12345678901234567890 + (i * 7919) % ROWS),
                "price": f"{chance.randrange(10_000)}.{chance.randrange(10)}0",
                "day": f"20{i % 30:02d}-0{1 + i % 9}-1{i % 10}",
                "city": chance.choice(["Zürich", "zürich", " Bern ", "Genève", "NA", "", "St. Gallen"]),
                "often": "rare" if i % 3 else f"v{i // 300}",  # "rare" leads, whichever slice is looked at
                "split": f"w{(i + 1) // 2}",  # pairs that a cut may part
                "gaps": str(i) if i % 97 == 0 else "",
                "nothing": "",
                "note": f'line one\nline "two" of {i},\nthree' if i % 11 == 0 else "one line",
            }
        )
    return found


def write_csv(path: Path, table: list[dict[str, object]]) -> None:
    lines = [list(table[0]), *(list(row.values()) for row in table)]
    text = "".join(",".join('"' + str(cell).replace('"', '""') + '"' for cell in line) + "\r\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode(), 1, mtime=0) if path.suffix == ".gz" else text.encode())


def write_jsonl(path: Path, table: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row | {"nested": {"deep": row["id"]}}) + "\n" for row in table))


def write_parquet(path: Path, table: list[dict[str, object]]) -> None:
    pq.write_table(pa.Table.from_pylist(table), path, row_group_size=700)


WRITERS = {"a.csv": write_csv, "a.csv.gz": write_csv, "a.jsonl": write_jsonl, "a.parquet": write_parquet}


@pytest.fixture
def staged_slices(monkeypatch):
    """How many slices were staged."""
    counted = []
    real = reading.write_slice
    monkeypatch.setattr(reading, "write_slice", lambda *given: counted.append(1) or real(*given))
    return counted


@pytest.mark.parametrize("name", WRITERS)
def test_slices_add_up_to_the_whole(tmp_path, name, staged_slices, monkeypatch):
    (tmp_path / "lake").mkdir()
    WRITERS[name](tmp_path / "lake" / name, rows())
    with without_spark(100_000_000):
        index(tmp_path / "lake", tmp_path / "whole")
    assert staged_slices == []
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1 << 16)  # what cannot be cut is still read block by block
    with without_spark(SMALL):
        index(tmp_path / "lake", tmp_path / "sliced")
    assert len(staged_slices) > 4

    whole, sliced = contents_of(tmp_path / "whole"), contents_of(tmp_path / "sliced")
    assert sliced == whole
    assert verify_index(tmp_path / "sliced").problems == ()

    found = {column.column: column for column in sliced[name]["columns"]}
    assert sliced[name]["table"].rows == ROWS
    assert found["id"].type.kind == "integer"
    assert (found["id"].minimum, found["id"].maximum) == ("0", str(ROWS - 1))
    assert found["late text"].type.kind in ("text", "mixed")
    assert found["zeros late"].type.kind == "text"
    assert found["long id"].minimum == "12345678901234567890"
    assert found["long id"].maximum == str(12345678901234567890 + ROWS - 1)
    assert found["price"].type.kind == "real"
    assert found["day"].type.kind == "date"
    assert found["often"].top[0] == ("rare", ROWS - ROWS // 3)
    assert found["split"].distinct == found["split"].raw_distinct == ROWS // 2 + 1
    assert found["gaps"].nulls == ROWS - len(range(0, ROWS, 97))
    assert found["nothing"].type.kind == "empty"
    assert found["note"].distinct == len(range(0, ROWS, 11)) + 1
    assert len(set(found["city"].sample)) == len(found["city"].sample) == 5


def test_a_big_file_of_a_header_alone_and_a_broken_one(tmp_path):
    lake = tmp_path / "lake"
    lake.mkdir()
    header = ",".join(f"a rather long name of column {i}" for i in range(1_000)) + "\n"
    (lake / "header.csv").write_text(header)
    data = gzip.compress(("a,b\n" + "".join(f"{i},{i * i}\n" for i in range(50_000))).encode(), mtime=0)
    (lake / "cut.csv.gz").write_bytes(data[: len(data) // 2])
    with without_spark(2_000):
        report = index(lake, tmp_path / "idx")
        again = index(lake, tmp_path / "idx")
    found = contents_of(tmp_path / "idx")
    assert len(found["header.csv"]["columns"]) == 1_000
    assert found["header.csv"]["table"].rows == 0
    assert "gzip" in found["cut.csv.gz"]["table"].error
    assert [skipped.path for skipped in report.skipped] == ["cut.csv.gz"]
    assert again.unchanged == 2, "what cannot be read is not read again before it changes"


def touch(path: Path, seconds: int) -> None:
    write_csv(path, rows()[: 500 + seconds])
    os.utime(path, (1_700_000_000 + seconds,) * 2)


def test_a_big_file_that_changes_between_prepare_and_stage_is_tried_again(tmp_path, monkeypatch):
    lake = tmp_path / "lake"
    lake.mkdir()
    touch(lake / "a.csv", 0)
    real = work.prepare

    def prepare_then_change(*given):
        answer = real(*given)
        touch(lake / "a.csv", 1)
        return answer

    monkeypatch.setattr(work, "prepare", prepare_then_change)
    with without_spark(SMALL):
        report = index(lake, tmp_path / "idx")
        assert [(skipped.path, skipped.reason) for skipped in report.skipped] == [("a.csv", reading.CHANGED)]
        assert Lake(tmp_path / "idx").table("a.csv").columns == []
        assert verify_index(tmp_path / "idx").problems == ()
        monkeypatch.undo()
    with without_spark(SMALL):
        report = index(lake, tmp_path / "idx")
    assert report.changed == 1
    assert report.skipped == []
    assert Lake(tmp_path / "idx").table("a.csv").rows == 501


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path, monkeypatch, times):
    lake = tmp_path / "lake"
    lake.mkdir()
    touch(lake / "a.csv", 0)
    real = reading.read
    changes = []

    def read_then_change(*given, **named):
        yield from real(*given, **named)
        if len(changes) < times:
            changes.append(True)
            touch(lake / "a.csv", len(changes))

    monkeypatch.setattr(reading, "read", read_then_change)
    with without_spark():
        index(lake, tmp_path / "idx")
        table = Lake(tmp_path / "idx").table("a.csv")
        assert (table.rows, table.error) == ((500 + times, "") if times < 3 else (0, reading.CHANGED))
        assert index(lake, tmp_path / "idx").changed == (times == 3), "only what was not read right is tried again"
    assert Lake(tmp_path / "idx").table("a.csv").rows == 500 + times


def packs_of(index: str | Path) -> dict[str, dict[str, bytes]]:
    """Every array of the only segment, but for what was measured while building, and tokens instead of their codes,
    which are learned from the first bucket."""
    (segment,) = open_snapshot(index).segments
    packs = {name: segment.pack(name) for name in segment.parts}
    left = {"costs", "symbols", "token_codes", "token_starts"}
    found = {name: {a: pack._arrays[a].tobytes() for a in {*pack.names()} - left} for name, pack in packs.items()}
    tokens = TokenArrays(packs["tokens"])
    found["tokens"]["tokens"] = tokens.strings(np.arange(tokens.tokens))[0].tobytes()
    return found


def wide_lake(folder: Path) -> Path:
    folder.mkdir()
    write_csv(folder / "a.csv", [row | {"again": row["city"], "half": i % 2 or None} for i, row in enumerate(rows())])
    return folder


@pytest.fixture
def of_one_task(tmp_path, monkeypatch) -> dict[str, dict[str, bytes]]:
    with without_spark(SMALL), monkeypatch.context() as patch:
        patch.setattr(jobs, "worth_dividing", by_one_task)
        index(wide_lake(tmp_path / "lake"), tmp_path / "one")
    return packs_of(tmp_path / "one")


def fail_once(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> list[int]:
    """Whatever calls this fails the first time, when it has done its work: as on a bad disk."""
    real = getattr(owner, name)
    calls: list[int] = []

    def look(*given, **named):
        calls.append(1)
        answer = real(*given, **named)
        if len(calls) == 1:
            raise OSError(errno.EIO, "Input/output error")
        return answer

    monkeypatch.setattr(owner, name, look)
    return calls


def test_many_tasks_build_what_one_task_builds_whichever_fails_once(tmp_path, monkeypatch, of_one_task):
    failing = [
        fail_once(monkeypatch, owner, name)
        for owner, name in (
            (stages.RowsBuilder, "spilled"),
            (stages.Bucket, "save"),
            (stages, "write_buckets"),
            (stages, "save_share"),
            (stages.RowsBuilder, "finish"),
            (PiecesBuilder, "finish_shares"),
        )
    ]
    run: list[str] = []

    def try_again(work, task):
        """As Spark does."""
        run.append(work.__name__)
        try:
            return attempt(work, task)
        except OSError:
            return attempt(work, task)

    with without_spark(SMALL), monkeypatch.context() as patch:
        patch.setattr(tasks, "attempt", try_again)
        index(tmp_path / "lake", tmp_path / "many")
    assert all(len(calls) > 1 for calls in failing)
    assert {"feed", "merge_ranges", "write_dictionary", "derive", "finish_shares"} <= set(run)
    assert "build_group" not in run
    assert packs_of(tmp_path / "many") == of_one_task
    assert verify_index(tmp_path / "many").problems == ()
    assert leftovers(tmp_path / "many") == set()


def test_many_tasks_exchange_what_they_find_through_an_object_store(tmp_path, of_one_task):
    with buckets_in_memory(tmp_path / "cache"), without_spark(SMALL):
        index(tmp_path / "lake", ADDRESS)
        assert packs_of(ADDRESS) == of_one_task
        assert verify_index(ADDRESS).problems == ()
        assert not any(open_store(ADDRESS).entries("staging"))


def test_a_bug_in_a_stage_is_named_with_its_table(tmp_path, monkeypatch, of_one_task):
    monkeypatch.setattr(stages, "join_records", lambda _: {}["no such"])
    with without_spark(SMALL), pytest.raises(BuildFailed, match=r"a bug in Dovetail left out 1: a\.csv \(KeyError"):
        index(tmp_path / "lake", tmp_path / "many")
    assert leftovers(tmp_path / "many") == set()
    monkeypatch.undo()
    with without_spark(SMALL):
        index(tmp_path / "lake", tmp_path / "many")
    assert packs_of(tmp_path / "many") == of_one_task


# Python runs it before a worker: the first pack of each name that any worker writes fails, as on a bad disk.
FAILING = """
import os

def failing(real):
    def look(path, flags, *given, **named):
        name = os.path.basename(str(path))
        if name in ("tokens.dvt", "mate.dvt", "pexeso.dvt") and flags & os.O_CREAT:
            try:
                os.mkdir(os.path.join(os.environ["FAILURES"], name))
            except FileExistsError:
                pass
            else:
                raise OSError(5, "Input/output error", str(path))
        return real(path, flags, *given, **named)
    return look

os.open = failing(os.open)
"""


@pytest.mark.full
def test_many_tasks_on_spark_some_of_which_fail_once(tmp_path, monkeypatch):
    for folder in ("lake", "site", "failures"):
        (tmp_path / folder).mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(FAILING)
    write_csv(tmp_path / "lake" / "a.csv", rows() * 5)
    monkeypatch.setattr(jobs, "worth_dividing", by_one_task)
    with without_spark():
        index(tmp_path / "lake", tmp_path / "one")
    variables = {"PYTHONPATH": str(tmp_path / "site"), "FAILURES": str(tmp_path / "failures")}
    given = ("--to", tmp_path / "many", "--master", "local[2,3]", "--set", "slice_mb=1", "--set", "memory_mb=1")
    done = dovetail("index", tmp_path / "lake", *given, env={**os.environ, **variables})
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "failures").iterdir())) == 3, "three tasks have failed once"
    assert packs_of(tmp_path / "many") == packs_of(tmp_path / "one")
    assert verify_index(tmp_path / "many").problems == ()


def test_slices_are_gone_as_soon_as_they_are_committed(tmp_path, monkeypatch):
    lake = tmp_path / "lake"
    lake.mkdir()
    write_csv(lake / "a.csv", rows()[:1_000])
    seen = []
    real = jobs.SparkBuild.clear

    def look(build):
        shared = build._writer.shared
        folders = [folder for folder in (work.SLICES, stages.STAGED) if any(shared.entries(folder))]
        real(build)
        seen.append((folders, [folder for folder in (work.SLICES, stages.STAGED) if any(shared.entries(folder))]))

    monkeypatch.setattr(jobs.SparkBuild, "clear", look)
    with without_spark(SMALL):
        index(lake, tmp_path / "many")
        monkeypatch.setattr(jobs, "worth_dividing", by_one_task)
        index(lake, tmp_path / "one")
    assert seen == [([stages.STAGED], []), ([work.SLICES], [])]


@pytest.mark.full
def test_one_cell_of_100_megabytes(tmp_path):
    lake = tmp_path / "lake"
    lake.mkdir()
    with (lake / "huge.csv").open("w") as file:
        file.write("id,text\n1,small\n2,")
        for _ in range(100):
            file.write("abcdefghij" * 100_000)
        file.write("\n3,last\n")
    before = psutil.Process().memory_info().rss
    with without_spark():
        index(lake, tmp_path / "idx")
    held = psutil.Process().memory_info().rss - before
    found = Lake(tmp_path / "idx").table("huge.csv")
    assert (found.rows, found.error) == (3, "")
    text = found.column("text").record
    assert (text.distinct, text.max_length) == (3, 100_000_000)
    assert all(len(value) <= 200 for value in text.sample)
    assert Lake(tmp_path / "idx").find("last").to_dicts()[0]["rows"] == 1
    assert verify_index(tmp_path / "idx").problems == ()
    assert held < 2_000_000_000


@pytest.mark.parametrize("megabyte", [1_000_000, 100_000], ids=["whole", "sliced"])
def test_a_row_of_20000_columns(tmp_path, megabyte):
    lake = tmp_path / "lake"
    lake.mkdir()
    lines = [",".join(f"c{i}" for i in range(20_000)), *(",".join([f"v{n}"] * 20_000) for n in range(2))]
    (lake / "wide.csv").write_text("\n".join(lines) + "\n")
    with without_spark(megabyte):
        index(lake, tmp_path / "idx", settings=Settings(segment_mb=1, slice_mb=1, memory_mb=100))
    found = Lake(tmp_path / "idx")
    assert len(found.table("wide.csv").columns) == 20_000
    assert len(found.find("v1")) == 20_000
    assert verify_index(tmp_path / "idx").problems == ()
