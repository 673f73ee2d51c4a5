"""Whatever happens to a run, the last generation stays whole, and the next run goes on from it."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from dovetail._storage.directory import newest_manifest
from dovetail.api.lake import Lake
from dovetail.errors import NotAnIndex
from dovetail.indexes.verify import verify_index
from dovetail.pipeline.jobs import KILLED
from dovetail.pipeline.maintain import compact, remove_tables
from dovetail.settings import Settings
from support.contents import contents_of, leftovers
from support.pipeline import index, without_spark
from support.processes import assert_one_sentence, dovetail, family, start, wait_until, workers

TABLES = 40
SETTINGS = ("--set", "segment_mb=1", "--set", "slice_mb=1", "--set", "memory_mb=64")


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Path:
    """11 MB in 40 tables, some above the slice size: 12 segments, committed in two batches."""
    folder = tmp_path_factory.mktemp("lake")
    chance = random.Random(3)
    for number in range(TABLES):
        rows = 30_000 if number % 4 == 0 else 2_000
        lines = (f"{i},{chance.randrange(10**6)},name {i % 999} of {number},{number}.{i % 10}\n" for i in range(rows))
        (folder / f"t{number:02d}.csv").write_text("id,number,name,part\n" + "".join(lines))
    return folder


@pytest.fixture(scope="module")
def fresh(lake, tmp_path_factory):
    """What an undisturbed build holds."""
    to = tmp_path_factory.mktemp("fresh") / "idx"
    with without_spark():
        index(lake, to, settings=Settings())
    return contents_of(to)


def begun(lake: Path, to: Path) -> Path:
    """An index of one table, to be gone on with."""
    with without_spark():
        index(lake, to, settings=Settings(segment_mb=1, slice_mb=1, memory_mb=64), tables=("t01.csv",))
    return to


def kill_whole(process: subprocess.Popen[str]) -> None:
    """Kill the driver alone, as an out-of-memory killer does, and wait until those that it started have gone too."""
    children = family(process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    _, alive = psutil.wait_procs(children, timeout=30)
    assert alive == [], "nothing goes on running without its driver"


def generation(to: Path) -> int:
    try:
        return newest_manifest(to).generation
    except (NotAnIndex, FileNotFoundError):
        return 0


@pytest.mark.full
def test_kill_9_of_the_driver_at_any_moment(lake, fresh, tmp_path):
    to = tmp_path / "idx"
    chance = random.Random()
    committed: set[str] = set()
    moments = [
        lambda: (to / "writer.lock").exists() and chance.random() < 0.01,  # while Spark starts
        lambda: (to / "staging" / "slices").exists(),
        lambda: any((to / "segments").glob("*/tokens.dvt")) and chance.random() < 0.1,
        lambda: generation(to) > before,  # right after a commit
        lambda: (to / "staging" / "progress").exists() and chance.random() < 0.01,
    ]
    for moment in moments:
        before = generation(to)
        process = start("index", lake, "--to", to, *SETTINGS)
        wait_until(lambda process=process, moment=moment: process.poll() is not None or moment())
        kill_whole(process)
        if generation(to) == 0:
            continue
        assert generation(to) >= before
        assert verify_index(to).problems == ()
        now = {line.table for line in Lake(to).tables()}
        assert committed <= now, "a committed table stays"
        committed = now
        assert contents_of(to) == {table: fresh[table] for table in committed}
    assert committed, "the kills came late enough to mean something"

    done = dovetail("index", lake, "--to", to, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["unchanged"] == len(committed)
    assert contents_of(to) == fresh
    assert dovetail("verify", to).returncode == 0
    assert leftovers(to) == set()


@pytest.mark.full
def test_kill_9_of_a_worker(lake, fresh, tmp_path):
    """Spark runs its task again."""
    to = tmp_path / "idx"
    process = start("index", lake, "--to", to, "--json", *SETTINGS)
    wait_until(lambda: process.poll() is not None or any((to / "segments").glob("*/*.dvt")))
    victims = wait_until(lambda: list(workers(process)))
    victims[0].kill()
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert json.loads(output)["tables"] == TABLES
    assert contents_of(to) == fresh
    assert verify_index(to).problems == ()
    assert leftovers(to) == set()


@pytest.mark.full
def test_a_file_that_kills_every_worker_is_set_aside(lake, fresh, tmp_path):
    to = tmp_path / "idx"
    path = f"{Path(__file__).with_name('killer')}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    environment = {**os.environ, "PYTHONPATH": path, "KILLER_FILE": "t02.csv"}
    done = dovetail("index", lake, "--to", to, "--json", *SETTINGS, env=environment)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["tables"] == TABLES - 1
    assert [(skipped["path"], skipped["reason"]) for skipped in answer["skipped"]] == [("t02.csv", KILLED)]
    assert {name: found for name, found in contents_of(to).items() if name != "t02.csv"} == {
        name: found for name, found in fresh.items() if name != "t02.csv"
    }
    assert verify_index(to).problems == ()
    assert leftovers(to) == set()


@pytest.mark.full
def test_interrupt(lake, tmp_path):
    """Ctrl-C reaches every process of the terminal's group."""
    to = begun(lake, tmp_path / "idx")
    process = start("index", lake, "--to", to, "--tables", "*")
    wait_until(lambda: process.poll() is not None or len(list((to / "segments").iterdir())) > 1)
    children = family(process)
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    done = subprocess.CompletedProcess(process.args, process.returncode, output, errors)
    assert "run the same command again to go on" in assert_one_sentence(done, 130)
    assert psutil.wait_procs(children, timeout=30)[1] == []
    assert verify_index(to).problems == ()
    assert "t01.csv" in contents_of(to)
    with without_spark():
        index(lake, to, tables=("*",))
    assert len(Lake(to).tables()) == TABLES
    assert leftovers(to) == set()


def test_two_writers_at_once(lake, tmp_path):
    to = begun(lake, tmp_path / "idx")
    first = start("index", lake, "--to", to, "--tables", "*")
    wait_until(lambda: (to / "staging").exists())
    first.send_signal(signal.SIGSTOP)  # it stays the writer for as long as the others try
    for command in (("index", lake, "--to", to), ("remove", to, "*"), ("compact", to)):
        assert "Another process is writing" in assert_one_sentence(dovetail(*command), 2)
    assert dovetail("tables", to).returncode == 0, "readers are not kept waiting"
    first.send_signal(signal.SIGCONT)
    kill_whole(first)
    assert verify_index(to).problems == ()
    assert dovetail("remove", to, "t01.csv").returncode == 0, "its lock has gone with it"


@contextlib.contextmanager
def mounted(folder: Path, *options: str):
    """A file system of its own on `folder`."""
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    folder.mkdir()
    mount = subprocess.run(["mount", *options, str(folder)], capture_output=True, text=True, check=False)
    if mount.returncode:
        pytest.skip(f"this machine does not allow to mount: {mount.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_full_disk(lake, fresh, tmp_path):
    with mounted(tmp_path / "small", "-t", "tmpfs", "-o", "size=12m", "tmpfs") as disk:
        to = disk / "idx"
        with without_spark():
            index(lake, to, tables=("t01.csv", "t02.csv"))
        before = generation(to)
        done = dovetail("index", lake, "--to", to, "--tables", "*")
        assert "No space left on device. What was committed stays" in assert_one_sentence(done, 2)
        assert verify_index(to).problems == ()
        assert generation(to) >= before
        found = contents_of(to)
        assert {"t01.csv", "t02.csv"} <= found.keys()
        assert all(found[table] == fresh[table] for table in found)
        assert leftovers(to) == set(), "what was half written does not go on filling the disk"

        (disk / "filler").write_bytes(b"")
        with contextlib.suppress(OSError), (disk / "filler").open("wb") as filler:
            while True:
                filler.write(bytes(1 << 16))
                filler.flush()
        assert os.statvfs(disk).f_bavail == 0
        done = dovetail("remove", to, "t01.csv")
        assert "No space left on device" in assert_one_sentence(done, 2)
        assert "t01.csv" in contents_of(to)
        assert verify_index(to).problems == ()


def test_read_only_target(lake, tmp_path):
    with mounted(tmp_path / "disk", "-t", "tmpfs", "tmpfs") as disk:
        to = disk / "idx"
        with without_spark():
            index(lake, to, tables=("t01.csv",))
        before = contents_of(to)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for command in (
            ("index", lake, "--to", to),
            ("index", lake, "--to", disk / "new"),
            ("remove", to, "*"),
            ("compact", to),
        ):
            assert "Read-only file system" in assert_one_sentence(dovetail(*command), 2)
        assert contents_of(to) == before
        assert dovetail("verify", to).returncode == 0


def test_a_reader_across_a_commit_and_a_compaction(lake, fresh, tmp_path):
    to = tmp_path / "idx"
    with without_spark():
        index(lake, to, tables=("t01.csv", "t02.csv"))
        reader = Lake(to)
        answer = reader.find("name 5 of 1").to_dicts()
        index(lake, to, tables=("t02.csv", "t03.csv"))
        compact(to)
        remove_tables(to, ["t02.csv"])
    old = to / "segments" / reader.segments[0].segment.ref.id
    assert old.exists(), "kept for the reader"
    assert reader.find("name 5 of 1").to_dicts() == answer
    assert contents_of(reader) == {name: fresh[name] for name in ("t01.csv", "t02.csv")}
    assert all(segment.segment.damage() == [] for segment in reader.segments)
    assert contents_of(to) == {"t03.csv": fresh["t03.csv"]}
    del reader
    assert remove_tables(to, ["none"]) == []
    assert not old.exists(), "removed by the first writer after it"


@pytest.mark.full
def test_a_reader_during_a_run(lake, fresh, tmp_path):
    """Opened at any moment of a run, an index answers with a whole generation."""
    to = tmp_path / "idx"
    process = start("index", lake, "--to", to, *SETTINGS)
    seen = set()
    wait_until(lambda: process.poll() is not None or generation(to) > 0)
    while process.poll() is None:
        reader = Lake(to)
        seen.add(reader.generation)
        for line in reader.tables():
            assert line.rows == fresh[line.table]["table"].rows
        time.sleep(0.01)
    assert process.returncode == 0
    assert len(seen) > 1
    assert contents_of(to) == fresh
