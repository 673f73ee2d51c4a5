"""The commands that ask, remove and compact: text for people, JSON for programs, 1 where there is nothing."""

from __future__ import annotations

import re

import pytest

from support.command import dovetail


def test_info(idx, lake):
    answer = dovetail("info", idx)
    assert answer.code == 0
    head, counts, size, root, settings = answer.out.splitlines()
    assert re.fullmatch(rf"{idx}: generation \d+, 1 segment", head)
    assert counts.startswith("4 tables · 9 columns · 10 rows · 17 distinct values · ")
    parts = ("catalog", "josie", "lists", "lsh_ensemble", "mate", "pexeso", "pieces", "rows", "tokens")
    assert re.fullmatch(r"\S+ KB of index: " + ", ".join(rf"{part} \S+ K?B" for part in parts), size)
    assert root == f"Lake: {lake}"
    assert settings == "Frozen settings: super_key_bits 64, super_key_xash 0, embedder ngrams"


@pytest.mark.parametrize("verb", ["info", "verify", "compact", "remove *.tsv"])
@pytest.mark.parametrize("way", ["argument", "option", "environment"])
def test_the_index_is_an_argument_an_option_or_in_the_environment(idx, monkeypatch, verb, way):
    name, *globs = verb.split()
    if way == "environment":
        monkeypatch.setenv("DOVETAIL_INDEX", str(idx))
    before = {"argument": [idx], "option": ["--index", idx], "environment": []}[way]
    assert dovetail(name, *before, *globs).code == 0


def test_info_json(idx, lake):
    info = dovetail("info", idx, "--json").json
    assert {"path": str(idx), "segments": 1, "dead_tables": 0, "tables": 4, "values": 17}.items() <= info.items()
    assert info["index_bytes"] == sum(info["index_bytes_by_part"].values())
    assert [root["path"] for root in info["roots"]] == [str(lake)]


def test_info_of_an_empty_index(tmp_path):
    (tmp_path / "lake").mkdir()
    dovetail("index", tmp_path / "lake", "--to", tmp_path / "idx")
    assert "\n0 B of index\n" in dovetail("info", tmp_path / "idx").out


def test_info_tells_when_to_compact(idx):
    dovetail("remove", idx, "people.csv")
    assert f"1 removed table still on disk. `dovetail compact {idx}` makes it smaller" in dovetail("info", idx).out


def test_tables(idx):
    answer = dovetail("tables", idx, terminal=True)
    assert answer.code == 0
    assert answer.out.splitlines() == [
        "table           rows  columns  size",
        "geo/cities.csv     3        2  42 B",
        "geo/codes.tsv      2        2  36 B",
        "letter.txt         0        0  91 B  skipped: not a table: prose",
        "old/log.csv        2        2  36 B",
        "people.csv         3        3  51 B",
    ]


def test_tables_by_glob_and_as_json(idx):
    found = dovetail("tables", idx, "geo/*", "--json").json
    assert found == [
        {"table": "geo/cities.csv", "rows": 3, "columns": 2, "bytes": 42, "error": None},
        {"table": "geo/codes.tsv", "rows": 2, "columns": 2, "bytes": 36, "error": None},
    ]


def test_skipped_tables(idx):
    found = dovetail("tables", idx, "--skipped", "--json").json
    assert [(line["table"], line["error"]) for line in found] == [("letter.txt", "not a table: prose")]


def test_no_tables(idx):
    answer = dovetail("tables", idx, "nothing/*")
    assert (answer.code, answer.out) == (1, f"No table of {idx} matches 'nothing/*'.\n")
    answer = dovetail("tables", idx, "geo/*", "--skipped")
    assert (answer.code, answer.out) == (1, f"No skipped file of {idx} matches 'geo/*'.\n")
    answer = dovetail("tables", idx, "nothing/*", "--json")
    assert (answer.code, answer.json) == (1, [])


def test_a_glob_that_was_meant_wider_is_suggested(idx):
    assert dovetail("tables", idx, "geo").out == f"No table of {idx} matches 'geo'. Try 'geo/*'.\n"
    assert dovetail("tables", idx, "cities").out == f"No table of {idx} matches 'cities'. Try '*cities*'.\n"
    assert dovetail("remove", idx, "geo/").out == f"No table of {idx} matches 'geo/'. Try 'geo/*'.\n"
    assert dovetail("find", idx, "--column", "ount").out == f"No column of {idx} is called 'ount'. Try '*ount*'.\n"


def test_find_a_negative_number(idx, lake):
    (lake / "cold.csv").write_text("place,degrees\nA,-5\nB,-6.0\n")
    dovetail("index", lake, "--to", idx)
    assert [hit["table"] for hit in dovetail("find", idx, "--json", "--", "-5").json] == ["cold.csv"]


def test_columns(idx):
    answer = dovetail("columns", idx, "people.csv", terminal=True)
    assert answer.code == 0
    assert answer.out.splitlines() == [
        "people.csv: 3 rows, 3 columns",
        "column  type     nulls  distinct  unique  length    range            such as",
        "id      integer      0         3     key  1, max 1  1 … 3            1, 2, 3",
        "name    text         0         3     key  2, max 3  ada … cy         Ada, Bo, Cy",
        "city    text         0         2     67%  6, max 6  berlin … zürich  Zürich, Berlin, berlin",
    ]


def test_columns_json(idx):
    found = dovetail("columns", idx, "people.csv", "--json").json
    city = found[2]
    assert [column["column"] for column in found] == ["id", "name", "city"]
    assert {"type": "text", "rows": 3, "nulls": 0, "distinct": 2, "unique": False, "key": False}.items() <= city.items()
    assert (city["raw_distinct"], city["min"], city["max"]) == (3, "berlin", "zürich")
    assert city["sample"] == ["Zürich", "Berlin", "berlin"]


def test_columns_of_a_skipped_file(idx):
    answer = dovetail("columns", idx, "letter.txt")
    assert (answer.code, answer.out) == (1, "letter.txt was skipped: not a table: prose.\n")
    answer = dovetail("columns", idx, "letter.txt", "--json")
    assert (answer.code, answer.json) == (1, [])


def test_find_a_value(idx):
    answer = dovetail("find", idx, "BERLIN", terminal=True)
    assert answer.code == 0
    assert answer.out.splitlines() == [
        "table           column  type  rows",
        "people.csv      city    text     2",
        "geo/cities.csv  City    text     1",
    ]


def test_find_reads_the_value_as_each_column_does(idx):
    found = dovetail("find", idx, "07.0", "--json").json
    assert found == []
    found = dovetail("find", idx, "7.0", "--json").json
    assert found == [{"table": "old/log.csv", "column": "count", "type": "integer", "rows": 1}]


def test_find_columns(idx):
    found = dovetail("find", idx, "--column", "C*", "--json").json
    assert [(line["table"], line["column"]) for line in found] == [
        ("geo/cities.csv", "City"),
        ("geo/cities.csv", "Country"),
        ("geo/codes.tsv", "code"),
        ("old/log.csv", "count"),
        ("people.csv", "city"),
    ]


def test_find_shows_a_limited_number(idx):
    answer = dovetail("find", idx, "--column", "c*", "-k", "2")
    assert answer.out.count("\n") == 3
    assert answer.err == "… and 3 more columns; -k 5 shows all.\n"


def test_find_nothing(idx):
    answer = dovetail("find", idx, "Atlantis")
    assert (answer.code, answer.out) == (1, f"No column of {idx} contains 'Atlantis'.\n")
    answer = dovetail("find", idx, "--column", "x*")
    assert (answer.code, answer.out) == (1, f"No column of {idx} is called 'x*'.\n")
    answer = dovetail("find", idx, "Atlantis", "--json")
    assert (answer.code, answer.json) == (1, [])


def test_verify(idx):
    answer = dovetail("verify", idx)
    assert answer.code == 0
    assert re.fullmatch(rf"{idx} is whole: generation \d+, 1 segment, 5 files, \S+ KB checked\.\n", answer.out)
    assert dovetail("verify", idx, "--json").json["whole"] is True


def test_verify_names_what_is_broken(idx):
    (pack,) = idx.glob("segments/*/tokens.dvt")
    content = bytearray(pack.read_bytes())
    content[100] ^= 1
    pack.write_bytes(content)
    answer = dovetail("verify", idx)
    assert answer.code == 1
    assert answer.out.startswith(f"{idx} is damaged: 1 problem.\n  {pack.parent.name}/tokens.dvt: ")
    found = dovetail("verify", idx, "--json")
    assert found.code == 1
    assert (found.json["whole"], len(found.json["problems"])) == (False, 1)


def test_remove(idx):
    answer = dovetail("remove", idx, "geo/*", "old/*")
    assert answer.code == 0
    assert answer.out.startswith("Removed 3 tables: geo/cities.csv, geo/codes.tsv, old/log.csv\n")
    assert dovetail("tables", idx, "geo/*").code == 1


def test_remove_json_and_nothing(idx):
    answer = dovetail("remove", idx, "geo/*", "--json")
    assert answer.json == {"removed": ["geo/cities.csv", "geo/codes.tsv"]}
    answer = dovetail("remove", idx, "geo/*")
    assert (answer.code, answer.out) == (1, f"No table of {idx} matches 'geo/*'.\n")
    answer = dovetail("remove", idx, "geo/*", "--json")
    assert (answer.code, answer.json) == (1, {"removed": []})


def test_compact(idx):
    dovetail("remove", idx, "geo/*")
    answer = dovetail("compact", idx)
    assert answer.code == 0
    assert re.match(
        rf"{idx} had 1 segment of \S+ KB and has 1 segment of \S+ KB now \(generation \d+\)\.\n", answer.out
    )
    assert dovetail("verify", idx).code == 0
    again = dovetail("compact", idx)
    assert again.code == 0
    assert again.out.startswith("Nothing to merge: 1 segment, ")


def test_compact_json(idx):
    dovetail("remove", idx, "geo/*")
    done = dovetail("compact", idx, "--json").json
    assert done["bytes_after"] < done["bytes_before"]
    assert (done["segments_before"], done["segments_after"]) == (1, 1)
