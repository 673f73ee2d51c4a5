"""Decisions on disk: none is lost, none outlives its file unseen, and they outlive the tables."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dovetail._storage.sealed import seal
from dovetail.api.lake import Lake
from dovetail.catalog.decisions import (
    FILE,
    Decision,
    Decisions,
    forget_decision,
    keep_decision,
    read_decisions,
)
from dovetail.errors import FormatMismatch, IndexDamaged, InputError, UnknownName
from dovetail.indexes.verify import verify_index
from dovetail.pipeline.maintain import compact, remove_tables
from support.decided_lake import FILES, copied, make_index
from support.pipeline import index, without_spark

AIRPORT = Decision("flights.csv", ("origin",), "airports.csv", ("code",), "joins", "IATA codes")
SEASON = Decision("games.csv", ("year", "team"), "teams.csv", ("year", "team"), "never")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_index(tmp_path_factory.mktemp("decisions"))


@pytest.fixture
def lake(made, tmp_path):
    return copied(made, tmp_path)


def without_time(decisions):
    return [{**each.to_json(), "decided": ""} for each in decisions]


def test_what_is_kept_is_read(tmp_path):
    assert read_decisions(tmp_path) == ()
    kept = [keep_decision(tmp_path, each) for each in (AIRPORT, SEASON)]
    assert without_time(kept) == [AIRPORT.to_json(), SEASON.to_json()]
    assert list(read_decisions(tmp_path)) == kept
    assert sorted(file.name for file in tmp_path.iterdir()) == ["decisions.json", "decisions.lock"]


def test_the_latest_word_counts_from_whichever_side(tmp_path):
    keep_decision(tmp_path, AIRPORT)
    keep_decision(tmp_path, SEASON)
    other = Decision("airports.csv", ("code",), "flights.csv", ("origin",), "never")
    swapped = Decision("teams.csv", ("team", "year"), "games.csv", ("team", "year"), "joins")
    keep_decision(tmp_path, other)
    keep_decision(tmp_path, swapped)
    assert without_time(read_decisions(tmp_path)) == [other.to_json(), swapped.to_json()]
    assert forget_decision(tmp_path, SEASON) is not None
    assert forget_decision(tmp_path, SEASON) is None
    assert without_time(read_decisions(tmp_path)) == [other.to_json()]


WRITER = """
import sys
from pathlib import Path
from dovetail.catalog.decisions import Decision, keep_decision
for number in range(20):
    keep_decision(Path(sys.argv[1]), Decision("a", (f"{sys.argv[2]}-{number}",), "b", ("x",), "never"))
"""


def test_writers_at_once_lose_nothing(tmp_path):
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), str(number)]) for number in range(4)]
    assert [writer.wait(60) for writer in writers] == [0] * 4
    kept = {each.left_columns[0] for each in read_decisions(tmp_path)}
    assert kept == {f"{writer}-{number}" for writer in range(4) for number in range(20)}


def test_any_flipped_byte_is_one_sentence_and_nothing_is_overwritten(tmp_path):
    keep_decision(tmp_path, AIRPORT)
    whole = (tmp_path / FILE).read_bytes()
    for place in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        (tmp_path / FILE).write_bytes(damaged)
        with pytest.raises(IndexDamaged, match=r"decisions.json is damaged: .* Restore it from a copy, or delete it"):
            read_decisions(tmp_path)
        with pytest.raises(IndexDamaged):
            keep_decision(tmp_path, SEASON)
        assert (tmp_path / FILE).read_bytes() == damaged


def test_damage_ends_questions_and_is_found_by_verify(lake, tmp_path):
    lake.decide("flights.csv", "airports.csv", "origin=code", "joins")
    assert verify_index(tmp_path / "idx").problems == ()
    (tmp_path / "idx" / FILE).write_text("{}")
    (problem,) = verify_index(tmp_path / "idx").problems
    assert "decisions.json is damaged" in problem
    for question in (lambda: lake.search("flights.csv"), lake.foreign_keys, lake.inds, lake.decisions):
        with pytest.raises(IndexDamaged, match=r"decisions.json is damaged"):
            question()


def test_another_version_is_refused_by_name(tmp_path):
    (tmp_path / FILE).write_bytes(seal({"version": 9, "decisions": []}))
    with pytest.raises(FormatMismatch, match="has version 9; this Dovetail reads version 1"):
        read_decisions(tmp_path)


def test_what_a_killed_writer_left_is_removed(tmp_path):
    (tmp_path / f"{FILE}.12345678").write_text("half of")
    keep_decision(tmp_path, AIRPORT)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["decisions.json", "decisions.lock"]


def test_where_nothing_can_be_written(tmp_path):
    (tmp_path / "decisions.lock").mkdir()  # as good as a read-only folder, also for root
    with pytest.raises(InputError, match=r"Cannot write to .*: Is a directory\."):
        keep_decision(tmp_path, AIRPORT)


def test_decisions_outlive_updates_compaction_and_tables(made, tmp_path):
    (tmp_path / "lake").mkdir()
    for name in ("flights.csv", "airports.csv", "carriers.csv"):
        (tmp_path / "lake" / name).write_text(FILES[name])
    with without_spark():
        index(tmp_path / "lake", tmp_path / "idx")
        lake = Lake(tmp_path / "idx")
        lake.decide("flights.csv", "airports.csv", "origin=code", "joins", "IATA codes")
        lake.decide("flights.csv", "carriers.csv", "carrier", "never")
        (tmp_path / "lake" / "flights.csv").write_text(FILES["flights.csv"].replace("origin", "departure"))
        index(tmp_path / "lake", tmp_path / "idx")
        remove_tables(tmp_path / "idx", ["carriers.csv"])
        compact(tmp_path / "idx")
    after = Lake(tmp_path / "idx").decisions()
    assert [(each.right_table, each.verdict, each.missing) for each in after] == [
        ("carriers.csv", "never", ("carriers.csv",)),
        ("airports.csv", "joins", ("flights.csv (origin)",)),
    ]
    assert len(Lake(tmp_path / "idx").foreign_keys(0)) > 0, "what the lake does not have any more is passed over"
    assert Lake(tmp_path / "idx").forget("carriers.csv", "flights.csv", "carrier").verdict == "never"
    assert len(Lake(tmp_path / "idx").decisions()) == 1


def test_a_decision_counts_at_once_in_an_open_lake(lake, tmp_path):
    other = Lake(tmp_path / "idx")
    lake.decide("flights.csv", "airports.csv", "origin=code", "never")
    assert [each.verdict for each in other.decisions()] == ["never"]
    assert other.decisions().to_dicts()[0]["left_columns"] == ["origin"]
    assert "flights.csv" in repr(other.decisions())


def test_only_columns_that_are_there_can_be_decided_on(lake):
    with pytest.raises(UnknownName, match="The index has no table"):
        lake.decide("flight.csv", "airports.csv", "origin=code", "never")
    with pytest.raises(UnknownName, match=r"flights.csv has no column"):
        lake.decide("flights.csv", "airports.csv", "orgin=code", "never")
    with pytest.raises(InputError, match="on both sides"):
        lake.decide("flights.csv", "flights.csv", "origin", "never")
    with pytest.raises(InputError, match="`verdict` is 'perhaps'; it must be one of joins, never"):
        lake.decide("flights.csv", "airports.csv", "origin=code", "perhaps")
    with pytest.raises(UnknownName, match="Nothing was decided about"):
        lake.forget("flights.csv", "airports.csv", "origin=code")
    assert lake.decisions() == []


def test_what_is_rejected_and_what_is_not():
    single = Decision("a", ("x",), "b", ("u",), "never")
    several = Decision("a", ("y", "z"), "b", ("v", "w"), "never")
    exactly = Decision("a", ("x", "y"), "b", ("u", "v"), "joins")
    between = Decisions([single, several, exactly]).between("a", "b")
    assert between.rejects(["x"], ["u"]) == single
    assert between.rejects(["q", "x"], ["p", "u"]) == single, "a pair that never joins does not join with others, too"
    assert between.rejects(["z", "y"], ["w", "v"]) == several
    assert between.rejects(["y"], ["v"]) is None, "only both together were rejected"
    assert between.rejects(["x", "y"], ["u", "v"]) is None, "exactly these were accepted"
    assert between.accepts(["y", "x"], ["v", "u"]) == exactly
    assert between.rejects(["x", "y"], ["u"]) is None, "two columns that are made into one are no pairs"
    assert Decisions([single]).between("b", "a").rejects(["u"], ["x"]) == single.turned
    assert Decisions([single]).between("a", "c").rejects(["x"], ["u"]) is None
    assert Decisions([single]).between(None, "b").rejects(["x"], ["u"]) is None
