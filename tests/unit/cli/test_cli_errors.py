"""Bad input gets one sentence on standard error, exit code 2, and no traceback."""

from __future__ import annotations

import shutil

import pytest

from dovetail.pipeline import run as pipeline
from support.command import Answer, dovetail


def refused(answer: Answer) -> str:
    assert answer.code == 2, answer
    assert answer.out == ""
    assert answer.err.count("\n") == 1, answer.err
    assert "Traceback" not in answer.err
    return answer.err.strip()


def test_a_lake_that_is_not_there(tmp_path):
    said = refused(dovetail("index", tmp_path / "nowhere", "--to", tmp_path / "idx"))
    assert said == f"There is no file or folder {tmp_path}/nowhere."
    assert not (tmp_path / "idx").exists()


def test_a_glob_in_a_folder_that_is_not_there(tmp_path):
    said = refused(dovetail("index", tmp_path / "nowhere" / "*.csv", "--to", tmp_path / "idx"))
    assert said.startswith(f"There is no folder {tmp_path}/nowhere")


@pytest.mark.parametrize("command", ["info", "tables", "columns a.csv", "find x", "verify", "compact"])
@pytest.mark.parametrize("kind", ["nothing", "a lake", "a file"])
def test_a_path_that_is_no_index(tmp_path, lake, command, kind):
    path = {"nothing": tmp_path / "nowhere", "a lake": lake, "a file": lake / "people.csv"}[kind]
    name, *rest = command.split()
    said = refused(dovetail(name, path, *rest))
    assert said == f"{path} is not an index. Make one with `dovetail index LAKE --to {path}`."


def test_remove_from_a_path_that_is_no_index(tmp_path, lake):
    assert "is not an index" in refused(dovetail("remove", tmp_path / "nowhere", "*"))
    assert "is not an index" in refused(dovetail("remove", lake, "*"))
    assert (lake / "people.csv").exists()


def test_remove_does_not_take_a_folder_for_a_glob(idx, lake, monkeypatch):
    monkeypatch.setenv("DOVETAIL_INDEX", str(idx))
    said = refused(dovetail("remove", lake, "*"))
    assert said == f"{lake} is not an index, nor a glob for tables of {idx}."


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("pepole.csv", "people.csv"), ("cities.csv", "geo/cities.csv"), ("geo/city.csv", "geo/cities.csv")],
)
def test_an_unknown_table_gets_a_suggestion(idx, asked, meant):
    said = refused(dovetail("columns", idx, asked))
    assert said == f'The index has no table "{asked}". Did you mean "{meant}"?'


def test_an_unknown_table_without_a_likeness(idx):
    said = refused(dovetail("columns", idx, "xxxxxxxxxxxx"))
    assert said.startswith('The index has no table "xxxxxxxxxxxx". There are 5: geo/cities.csv, ')


@pytest.mark.parametrize(
    ("dialect", "said"),
    [
        ("delimiter=|", "is not of the form GLOB:DIALECT"),
        ("*.txt:", "is not of the form GLOB:DIALECT"),
        (":delimiter=|", "is not of the form GLOB:DIALECT"),
        ("*.txt:separator=|", "allowed are delimiter, quote, escape, comment, encoding, header, skip_lines"),
        ("*.txt:delimiter=||", "is not one ASCII character"),
        ("*.txt:encoding=klingon", "is not a known encoding"),
        ("*.txt:header=perhaps", "write header=yes or header=no"),
        ("*.txt:skip_lines=few", "is not a number of lines"),
    ],
)
def test_a_bad_dialect(tmp_path, lake, dialect, said):
    assert said in refused(dovetail("index", lake, "--to", tmp_path / "idx", "--dialect", dialect))
    assert not (tmp_path / "idx").exists()


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("segment_mb", "is not of the form NAME=NUMBER"),
        ("segment_mb=many", "is not of the form NAME=NUMBER"),
        ("segment_mb=0", "must be a whole number of at least 1"),
        ("size=3", "The settings are: memory_mb, merge_factor, segment_mb, slice_mb, super_key_bits, super_key_xash."),
    ],
)
def test_a_bad_setting(tmp_path, lake, choice, said):
    assert said in refused(dovetail("index", lake, "--to", tmp_path / "idx", "--set", choice))
    assert not (tmp_path / "idx").exists()


def test_another_lake_without_add(tmp_path, lake, idx):
    (tmp_path / "other").mkdir()
    said = refused(dovetail("index", tmp_path / "other", "--to", idx))
    assert said == f"{idx} is the index of {lake}. To put {tmp_path}/other into the same index, use `add`."


def test_most_tables_gone_without_allow_drop(lake, idx):
    before = dovetail("tables", idx, "--json").json
    shutil.rmtree(lake / "geo")
    (lake / "people.csv").unlink()
    said = refused(dovetail("index", lake, "--to", idx))
    assert said.startswith("Stopped before writing: 3 of 5 indexed tables ")
    assert said.endswith("use `allow_drop`.")
    assert dovetail("tables", idx, "--json").json == before


def test_the_folder_of_another_lake_is_gone(lake, idx, tmp_path):
    """The named lake is updated, and nothing of the other one is dropped."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.csv").write_text("a,b\n1,2\n")
    assert dovetail("index", tmp_path / "other", "--to", idx, "--add").code == 0
    before = dovetail("tables", idx).out
    shutil.rmtree(lake)
    updated = dovetail("index", tmp_path / "other", "--to", idx)
    assert updated.code == 0 and "was not updated; its tables stay as they were." in updated.err
    assert "Is its disk mounted?" in updated.err
    assert dovetail("tables", idx).out == before
    assert dovetail("index", tmp_path / "other", "--to", idx, "--strict").code == 1
    refused(dovetail("index", lake, "--to", idx))


def test_the_target_holds_other_files(lake):
    said = refused(dovetail("index", lake, "--to", lake / "old"))
    assert said == f"{lake}/old is not an index and not empty (it holds log.csv); choose an empty or new folder."


def test_the_target_is_a_file(lake):
    said = refused(dovetail("index", lake, "--to", lake / "people.csv"))
    assert said == f"{lake}/people.csv is a file; the index needs a folder."


def test_the_target_lies_in_a_file(lake):
    assert refused(dovetail("index", lake, "--to", lake / "people.csv" / "idx")).startswith("Cannot ")


@pytest.mark.parametrize("arguments", [[], ["Berlin", "--column", "*"]])
def test_find_takes_a_value_or_a_name(idx, arguments):
    assert "either a value or --column" in refused(dovetail("find", idx, *arguments))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["frobnicate"], "See `dovetail --help`."),
        (["index", "lake"], "Missing option '--to' / '--index'. See `dovetail index --help`."),
        (["columns", "idx"], "Missing argument 'TABLE'. See `dovetail columns --help`."),
        (["find", "idx", "x", "-k", "0"], "See `dovetail find --help`."),
        (["tables", "--frob"], "See `dovetail tables --help`."),
        (["remove", "idx"], "Missing argument 'GLOB...'. See `dovetail remove --help`."),
        (["info"], "No index given: name its folder first, use --index, or set DOVETAIL_INDEX."),
        (["verify", "idx", "other"], "Got unexpected extra argument (other). See `dovetail verify --help`."),
    ],
)
def test_usage_errors_are_one_sentence(arguments, said):
    assert refused(dovetail(*arguments)).endswith(said)


def test_a_damaged_index(idx):
    (manifest,) = idx.glob("manifest-*.json")
    manifest.write_bytes(manifest.read_bytes().replace(b"people", b"peopel").replace(b'"tables"', b'"tabels"'))
    assert "is damaged" in refused(dovetail("info", idx))


def test_an_index_of_another_format(idx, monkeypatch):
    monkeypatch.setattr("dovetail._storage.marker.FORMAT_VERSION", 4)
    said = refused(dovetail("tables", idx))
    assert f"{idx} has index format 3; this Dovetail reads format 4. Build the index again" in said


def test_a_system_error_names_the_file(idx, monkeypatch):
    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(idx / "segments"))

    monkeypatch.setattr("dovetail.api.open_index.open_snapshot", fail)
    assert refused(dovetail("info", idx)) == f"Cannot use {idx}/segments: Permission denied."


def test_an_interrupt(lake, tmp_path, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "list_tables", interrupted)
    answer = dovetail("index", lake, "--to", tmp_path / "idx")
    assert answer.code == 130
    assert answer.err.endswith("Stopped. What was committed stays; run the same command again to go on.\n")
