"""Whatever is added, changed, removed and compacted: the index answers as one that was just built.

A random history runs against a model (which files the index should hold, with their content), and after every step the
index is compared with a fresh build of exactly these files: tables, profiles, sets, rows, where values are found, and
what two columns find together.
"""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dovetail._storage.directory import open_snapshot
from dovetail.api.lake import Lake
from dovetail.errors import InputError
from dovetail.indexes.verify import verify_index
from dovetail.pipeline.maintain import compact, remove_tables
from dovetail.pipeline.merging import plan_merges, sizes_of
from support.contents import contents_of, leftovers
from support.pipeline import SMALLEST, index, without_spark

# So small that a few rows fill a segment, a table of some more is read in slices, and its tokens are spilled.
MEGABYTE = 1_200
SMALL = replace(SMALLEST, segment_mb=100, merge_factor=3)  # so that small segments of a few runs are merged
WORDS = ["Zürich", "zürich ", "Bern", "x", "", "NA", "null", "a,b", 'say "hi"', "two\nlines", "ﬁn", "O'Neil"]
NUMBERS = ["0", "1", "1.0", "007", "-3", "2.50", "12345678901234567890", "12345678901234567891", "1e5", "n/a"]
DATES = ["2024-01-31", "2024-02-30", "31.01.2024", "1999-12-01"]
BROKEN = [b"", b"\n \n", b"%PDF-1.7 no table", b"\x00\x01\x02\x03" * 200, b"only,a,header\n"]

NAMES = ["a.csv", "b.csv", "sub/a.csv", "sub/deep/c.csv", "d.csv.gz"]
PATTERNS = ["*", "a.csv", "sub/*", "*.gz", "nothing*"]
names = st.sampled_from(NAMES)
columns = st.sampled_from([WORDS, NUMBERS, DATES, WORDS + NUMBERS, [""]])


@st.composite
def tables(draw):
    """The bytes of a CSV file, or of one that is none."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(BROKEN))
    pools = draw(st.lists(columns, min_size=1, max_size=4))
    rows = draw(st.lists(st.tuples(*(st.sampled_from(pool) for pool in pools)), max_size=6))
    repeats = draw(st.sampled_from([1, 1, 1, 40, 700]))
    lines = [[f"col {number}" for number in range(len(pools))], *rows * repeats]
    return "".join(",".join(map(quoted, line)) + "\n" for line in lines).encode()


def quoted(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'


def key_answers(lake: Lake, table: str) -> object:
    """What the table's first two columns find together, or the sentence where they have no row in common."""
    try:
        return lake.search(table, on=["col 0", "col 1"], include_self=True, copies=True).to_dicts()
    except InputError as nothing:
        return str(nothing)


class Increments(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="increments-"))
        self.lake, self.index = self.folder / "lake", self.folder / "idx"
        self.lake.mkdir()
        self.clock = 1_700_000_000
        self.held: dict[str, tuple[bytes, int]] = {}  # what the index should hold
        self.dirty = False

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @initialize(files=st.dictionaries(names, tables(), max_size=4))
    def build(self, files):
        for name, content in files.items():
            self.write(name, content)
        self.update(small=False)

    @rule(name=names, content=tables())
    def write(self, name, content):
        path = self.lake / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(content, mtime=0) if name.endswith(".gz") and content else content)
        self.clock += 1
        os.utime(path, (self.clock, self.clock))

    @rule(name=names)
    def delete(self, name):
        (self.lake / name).unlink(missing_ok=True)

    @rule(small=st.booleans())
    def update(self, small):
        with without_spark(MEGABYTE):
            report = index(self.lake, self.index, settings=SMALL if small else SMALLEST)
        before, self.held = self.held, self.present()
        if small and report.added + report.changed:
            assert plan_merges(self.sizes(), SMALL.merge_factor, SMALL.segment_mb * MEGABYTE // 2) == []
        assert report.added == len(self.held.keys() - before.keys())
        assert report.removed == len(before.keys() - self.held.keys())
        both = self.held.keys() & before.keys()
        assert report.changed == sum(self.held[name] != before[name] for name in both)
        self.dirty = True

    @rule(pattern=st.sampled_from(PATTERNS))
    def remove(self, pattern):
        with without_spark(MEGABYTE):
            removed = remove_tables(self.index, [pattern])
        expected = {"a.csv": {"a.csv"}, "sub/*": {"sub/a.csv", "sub/deep/c.csv"}, "*.gz": {"d.csv.gz"}, "*": set(NAMES)}
        assert removed == sorted(self.held.keys() & expected.get(pattern, set()))
        for name in removed:
            del self.held[name]
        self.dirty = True

    @rule()
    def compact(self):
        with without_spark(MEGABYTE):
            done = compact(self.index)
        assert done.segments_after <= done.segments_before
        assert Lake(self.index).info()["dead_tables"] == 0
        assert plan_merges(self.sizes(), factor=2) == []
        self.dirty = True

    @precondition(lambda self: self.dirty)
    @invariant()
    def answers_as_a_fresh_build(self):
        self.dirty = False
        copy, fresh = self.folder / "copy", self.folder / "fresh"
        copy.mkdir()
        for name, (content, time) in self.held.items():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(content)
            os.utime(copy / name, ns=(time, time))
        with without_spark():  # all in one segment, nothing sliced, nothing spilled
            index(copy, fresh)
        assert contents_of(self.index) == contents_of(fresh)
        grown, built = Lake(self.index), Lake(fresh)
        assert grown.tables() == built.tables()
        assert grown.skipped() == built.skipped()
        for value in (*WORDS, *NUMBERS, *DATES, "1.00", "not there"):
            assert grown.find(value) == built.find(value), value
        for line in grown.tables():
            if line.columns > 1 and line.rows:
                assert key_answers(grown, line.table) == key_answers(built, line.table)
        names_found = [lake.find_columns("COL*") for lake in (grown, built)]
        assert names_found[0] == names_found[1]
        counted = ("tables", "columns", "rows", "values", "bytes")
        assert [grown.info()[name] for name in counted] == [built.info()[name] for name in counted]
        assert verify_index(self.index).problems == ()
        assert leftovers(self.index) == set()
        shutil.rmtree(copy)
        shutil.rmtree(fresh)

    def sizes(self) -> dict[str, int]:
        return sizes_of(open_snapshot(self.index).segments)

    def present(self) -> dict[str, tuple[bytes, int]]:
        files = (path for path in self.lake.rglob("*") if path.is_file())
        return {path.relative_to(self.lake).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


TestIncrements = Increments.TestCase
TestIncrements.settings = settings(max_examples=25, stateful_step_count=15)
