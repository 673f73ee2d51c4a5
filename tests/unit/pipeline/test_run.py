"""The verbs that write: roots, losses, resuming, and failures that reach the user as a sentence."""

from __future__ import annotations

import pytest

import dovetail
from dovetail._storage.directory import newest_manifest, open_writer
from dovetail._storage.store import open_store
from dovetail.api.lake import Lake
from dovetail.errors import BuildFailed, InputError, SourceUnreachable
from dovetail.indexes.verify import verify_index
from dovetail.lake.files import LocalFiles
from dovetail.pipeline import jobs, maintain, plan, run, tasks, work
from dovetail.pipeline.report import Progress, Ticks, watch_progress
from dovetail.pipeline.run import Request, index_lake
from dovetail.settings import Settings
from support.contents import contents_of, leftovers
from support.pipeline import index, without_spark
from support.processes import wait_until


@pytest.fixture(autouse=True)
def no_spark():
    with without_spark():
        yield


@pytest.fixture
def lake(tmp_path):
    folder = tmp_path / "lake"
    folder.mkdir()
    for number in range(5):
        (folder / f"t{number}.csv").write_text(f"id,word\n{number},x\n")
    return folder


def names(to):
    return [line.table for line in Lake(to).tables()]


def test_a_second_run_reads_nothing(lake, tmp_path, monkeypatch):
    index(lake, tmp_path / "idx")
    monkeypatch.setattr(run, "spark_session", None)  # calling it would fail
    report = index(lake, tmp_path / "idx")
    assert (report.added, report.changed, report.removed, report.unchanged) == (0, 0, 0, 5)
    assert (report.tables, report.columns, report.rows) == (5, 10, 5)
    assert report.generation == newest_manifest(tmp_path / "idx").generation == 1


def test_great_losses_are_refused(lake, tmp_path):
    index(lake, tmp_path / "idx")
    for number in range(3):
        (lake / f"t{number}.csv").unlink()
    with pytest.raises(InputError, match=r"3 of 5 indexed tables are no longer under .*use `allow_drop`"):
        index(lake, tmp_path / "idx", allow_drop=False)
    assert len(names(tmp_path / "idx")) == 5
    assert index(lake, tmp_path / "idx", allow_drop=True).removed == 3
    assert len(names(tmp_path / "idx")) == 2


def test_half_may_go(lake, tmp_path):
    index(lake, tmp_path / "idx")
    for number in range(2):
        (lake / f"t{number}.csv").unlink()
    assert index(lake, tmp_path / "idx", allow_drop=False).removed == 2


def test_a_lake_that_is_gone_drops_nothing(lake, tmp_path):
    index(lake, tmp_path / "idx")
    lake.rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="There is no file or folder"):
        index(lake, tmp_path / "idx")
    assert len(names(tmp_path / "idx")) == 5


def test_another_root_needs_add(lake, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "t1.csv").write_text("id\n77\n")
    index(lake, tmp_path / "idx")
    with pytest.raises(InputError, match="use `add`"):
        index(other, tmp_path / "idx")
    index(other, tmp_path / "idx", add=True)
    assert names(tmp_path / "idx") == ["other//t1.csv", *(f"t{number}.csv" for number in range(5))]
    assert index(lake, tmp_path / "idx").unchanged == 6, "both roots are remembered"


def test_globs_are_remembered(lake, tmp_path):
    index(lake, tmp_path / "idx", exclude=("t1*",))
    assert "t1.csv" not in names(tmp_path / "idx")
    assert index(lake, tmp_path / "idx").added == 0
    assert index(lake, tmp_path / "idx", exclude=()).added == 1


def test_a_stopped_run_goes_on_where_it_was(lake, tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "_GROUPS_A_BATCH", 1)
    monkeypatch.setattr(run, "group_files", lambda files, *_: [[file] for file in files])
    real = jobs.SparkBuild.run
    batches = []

    def stop_at_the_second(build, groups):
        batches.append([file.table for members in groups for file in members])
        if len(batches) == 2:
            raise KeyboardInterrupt
        return real(build, groups)

    monkeypatch.setattr(jobs.SparkBuild, "run", stop_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        index(lake, tmp_path / "idx")
    done = names(tmp_path / "idx")
    assert done == sorted(batches[0])
    assert 0 < len(done) < 5
    assert verify_index(tmp_path / "idx").problems == ()
    assert Lake(tmp_path / "idx").info()["tables"] == len(done), "counted though the run had not come to counting"
    report = index(lake, tmp_path / "idx")
    assert (report.added, report.unchanged, report.tables) == (5 - len(done), len(done), 5)
    assert leftovers(tmp_path / "idx") == set()


def test_a_stopped_run_whose_rest_is_gone_still_counts(lake, tmp_path):
    to = tmp_path / "idx"
    index(lake, to)
    with open_writer(to) as writer:
        writer.commit(writer.manifest.next(statistics={}))  # as after a commit in the middle of a run
    assert index(lake, to).tables == 5
    assert newest_manifest(to).statistics["tables"] == 5


@pytest.mark.parametrize("step", ["prepare_big", "stage_big", "build_group"])
def test_a_task_that_cannot_write_ends_the_run_with_a_sentence(lake, tmp_path, monkeypatch, step):
    index(lake, tmp_path / "idx", tables=("t0.csv",))
    before = contents_of(tmp_path / "idx")
    (lake / "big.csv").write_text("id\n" + "".join(f"{i}\n" for i in range(300_000)))
    monkeypatch.setattr(work, step, lambda task: {"failed": "No space left on device"})
    with pytest.raises(BuildFailed, match=r"Cannot write to .*idx: No space left on device\. What was committed stays"):
        index(lake, tmp_path / "idx", tables=("*",))
    assert contents_of(tmp_path / "idx") == before
    assert leftovers(tmp_path / "idx") == set()


def test_compaction_of_empty_files(tmp_path):
    """Files without a byte make segments without a byte."""
    lake = tmp_path / "lake"
    lake.mkdir()
    for name in ("a.csv", "b.csv"):
        (lake / name).write_text("")
        index(lake, tmp_path / "idx")
    before = contents_of(tmp_path / "idx")
    done = maintain.compact(tmp_path / "idx")
    assert (done.segments_before, done.segments_after) == (2, 1)
    assert contents_of(tmp_path / "idx") == before


def test_compaction_leaves_what_is_full_and_clean(lake, tmp_path):
    to = tmp_path / "idx"
    with without_spark(30):
        index(lake, to)
        dovetail.compact(to)
        first = newest_manifest(to)
        done = dovetail.compact(to)
    assert newest_manifest(to) == first
    assert done.generation == first.generation
    assert done.bytes_before == done.bytes_after > 0


def test_the_plan_is_told_before_the_work(lake, tmp_path):
    told: list[Progress] = []
    index_lake(Request((str(lake),), tmp_path / "idx"), told.append)
    assert told[0].stage == "plan"
    assert told[0].total == 5
    assert told[0].disk > 0 < told[0].free
    assert told[-1] == Progress("build", 5, 5)


def test_watch_counts_what_tasks_mark(tmp_path):
    told: list[Progress] = []
    store = open_store(tmp_path)
    store.put("progress/1", b"...")
    for _ in range(2):
        Ticks(store, 2)()
    with watch_progress(store, 9, told.append):
        wait_until(lambda: told)
    assert told[0] == Progress("build", 9, 4)
    assert told[-1] == Progress("build", 9, 9)


def test_the_reason_of_a_failed_task_is_the_workers_own():
    spark = Exception(
        "Job aborted due to stage failure\norg.apache.spark.api.python.PythonException: Traceback (most recent call "
        'last):\n  File "x.py", line 3\nValueError: the worker said this\n\tat org.apache.spark.Something\n'
    )
    assert tasks.reason_of(spark) == "A Spark task failed for good: ValueError: the worker said this"


def make(folder, **tables):
    """A lake of tables of one value each."""
    for name, value in tables.items():
        path = folder / f"{name.replace('__', '/')}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"id,word\n1,{value}\n")
    return folder


def words(to):
    """The word of each table."""
    return {name: table["rows"][1][0] for name, table in contents_of(to).items() if not table["table"].error}


@pytest.mark.parametrize("first", ["a", "other"])
def test_tables_of_different_lakes_never_share_an_id(tmp_path, first):
    """A file `other/a.csv` of one lake, and `a.csv` of a lake called other."""
    lakes = {"a": make(tmp_path / "a", other__a="inner"), "other": make(tmp_path / "other", a="outer", a__a="deep")}
    to = tmp_path / "idx"
    index(lakes.pop(first), to)
    index(*lakes.values(), to, add=True)
    assert sorted(words(to).values()) == ["deep", "inner", "outer"]


def test_files_that_come_later_do_not_replace_those_of_another_lake(tmp_path):
    one, other, to = make(tmp_path / "a", x="x"), make(tmp_path / "other", a="outer"), tmp_path / "idx"
    index(one, to)
    index(other, to, add=True)
    make(one, other__a="inner")
    assert index(one, to).added == 1
    assert words(to) == {"x.csv": "x", "other/a.csv": "inner", "other//a.csv": "outer"}
    assert index(other, to).unchanged == 3


def test_lakes_of_one_name_are_told_apart_by_more_of_their_paths(tmp_path):
    to = tmp_path / "idx"
    index(make(tmp_path / "a", x="1"), to)
    index(make(tmp_path / "b" / "other", x="2"), to, add=True)
    index(make(tmp_path / "c" / "other", x="3"), to, add=True)
    assert words(to) == {"x.csv": "1", "other//x.csv": "2", "c/other//x.csv": "3"}


def test_several_lakes_in_one_run(tmp_path):
    """Folders, globs and single files, also of one folder; and the same again reads what has changed."""
    to = tmp_path / "idx"
    lakes = [make(tmp_path / "a", x="1"), f"{make(tmp_path / 'b', x='2', sub__y='3', sub__z='4')}/**/y.csv",
             tmp_path / "b" / "x.csv", make(tmp_path / "c" / "b", x="5")]  # fmt: skip
    index(lakes, to)
    expected = {"x.csv": "1", "b//sub/y.csv": "3", "b//x.csv": "2", "c/b//x.csv": "5"}
    assert words(to) == expected
    assert index(lakes, to).unchanged == 4
    assert index(lakes[::-1], to).unchanged == 4, "in whichever order"
    (tmp_path / "a" / "x.csv").unlink()
    make(tmp_path / "b", sub__y="6")
    report = index(lakes, to, allow_drop=False)
    assert (report.removed, report.changed, report.unchanged) == (1, 1, 2)
    assert words(to) == {"b//sub/y.csv": "6", "b//x.csv": "2", "c/b//x.csv": "5"}


def test_one_more_lake_needs_add(tmp_path):
    one, other, to = make(tmp_path / "a", x="1"), make(tmp_path / "b", x="2"), tmp_path / "idx"
    index(one, to)
    with pytest.raises(InputError, match=rf"is the index of {one}. To put {other} into the same index, use `add`"):
        index([one, other], to)
    index([one, other], to, add=True)
    assert words(to) == {"x.csv": "1", "b//x.csv": "2"}


def test_a_file_that_two_roots_of_a_folder_name_is_one_table(tmp_path):
    lake, to = make(tmp_path / "a", x="1", y="2"), tmp_path / "idx"
    index([lake / "x.csv", lake, lake / "y.csv"], to)
    assert words(to) == {"x.csv": "1", "y.csv": "2"}


def test_a_file_under_two_roots_is_indexed_once(tmp_path):
    outer, to = make(tmp_path / "a", x="1", sub__y="2"), tmp_path / "idx"
    index(outer, to)
    index(outer / "sub", to, add=True)
    assert words(to) == {"x.csv": "1", "sub/y.csv": "2"}


def test_settings_that_change_no_answer_belong_to_one_run(lake, tmp_path, monkeypatch):
    seen = []
    real = jobs.SparkBuild.__init__

    def init(build, engine, writer, frozen, settings, *more):
        seen.append((settings.segment_mb, settings.slice_mb, settings.memory_mb))
        real(build, engine, writer, frozen, settings, *more)

    monkeypatch.setattr(jobs.SparkBuild, "__init__", init)
    to = tmp_path / "idx"
    for number, settings in enumerate((Settings(3, 4, 5), Settings(6, 7, 8), Settings())):
        (lake / f"new{number}.csv").write_text("id\n1\n")
        index(lake, to, settings=settings)
    maintain.compact(to, settings=Settings(segment_mb=9))
    assert seen == [(3, 4, 5), (6, 7, 8), (128, 64, 256), (9, 64, 256)]


@pytest.mark.parametrize("settings", [{"super_key_bits": 256}, {"super_key_xash": 1}])
def test_settings_that_all_segments_share_are_frozen(lake, tmp_path, settings):
    to = tmp_path / "idx"
    index(lake, to, settings=Settings(super_key_bits=128))
    index(lake, to, settings=Settings(super_key_bits=128, super_key_xash=0))
    for change in (
        lambda: index(lake, to, settings=Settings(**settings)),
        lambda: dovetail.compact(to, settings=settings),
    ):
        with pytest.raises(InputError, match=f"{next(iter(settings))} is .* in this index and cannot be changed"):
            change()
    assert newest_manifest(to).generation == 1


@pytest.mark.parametrize("gone", ["a", "b"])
def test_a_lake_that_does_not_answer_stays_as_it_was(tmp_path, gone):
    """The first lake or the second, neither being named: nothing of it is dropped, and the other one is updated."""
    to, other = tmp_path / "idx", {"a": "b", "b": "a"}[gone]
    lakes = {name: make(tmp_path / name, x=f"{name} 1", y=f"{name} 2") for name in ("a", "b")}
    index(list(lakes.values()), to)
    before = words(to)
    lakes[gone].rename(tmp_path / "away")
    make(lakes[other], x="new")
    (lakes[other] / "y.csv").unlink()
    report = index(lakes[other], to, allow_drop=True)
    assert (report.changed, report.removed, report.unchanged) == (1, 1, 0)
    (silent,) = report.unreachable
    assert (silent.lake, "Is its disk mounted?" in silent.reason) == (str(lakes[gone]), True)
    prefix = {"a": "", "b": "b//"}
    kept = {f"{prefix[gone]}{name}.csv": f"{gone} {value}" for name, value in (("x", 1), ("y", 2))}
    assert words(to) == kept | {f"{prefix[other]}x.csv": "new"} and kept.items() <= before.items()
    (tmp_path / "away").rename(lakes[gone])
    make(lakes[gone], x="back")
    report = index(lakes[other], to)
    assert (report.changed, report.removed, report.unchanged, report.unreachable) == (1, 0, 2, [])


def test_a_lake_that_is_named_must_answer(tmp_path):
    lakes, to = [make(tmp_path / "a", x="1"), make(tmp_path / "b", x="2")], tmp_path / "idx"
    index(lakes, to)
    make(lakes[0], x="new")
    with pytest.raises(InputError, match="There is no file or folder"):
        index([lakes[0], tmp_path / "b" / "x.csv" / "gone"], to)
    with pytest.raises(SourceUnreachable, match="cannot be reached"):
        index([lakes[0], "postgresql://me@127.0.0.1:1/x"], to, add=True)
    assert words(to) == {"x.csv": "1", "b//x.csv": "2"}, "nothing was written"
    assert index(lakes[0], to).unreachable == []


def test_a_lake_that_fails_while_it_is_listed_counts_as_one_that_does_not_answer(tmp_path, monkeypatch):
    """Its first tables alone would make the others look gone."""
    to, lakes = tmp_path / "idx", [make(tmp_path / "a", x="1"), make(tmp_path / "b", x="2", y="3")]
    index(lakes, to)
    real = LocalFiles.list

    def listed(source, root, skip):
        for number, file in enumerate(real(source, root, skip)):
            if number and root.name == "b":
                raise SourceUnreachable("The connection was lost.")
            yield file

    monkeypatch.setattr(LocalFiles, "list", listed)
    report = index(lakes[0], to)
    assert [each.reason for each in report.unreachable] == ["The connection was lost."]
    assert words(to) == {"x.csv": "1", "b//x.csv": "2", "b//y.csv": "3"}
