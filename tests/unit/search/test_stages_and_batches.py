"""Approximate first, exact after; and many searches at once. Neither changes an answer."""

from __future__ import annotations

import json

import pyarrow.parquet
import pytest

import dovetail
from dovetail.errors import InputError
from dovetail.search import stages
from dovetail.search.decided import ranked
from dovetail.search.hits import Hits
from dovetail.search.many import SCHEMA
from dovetail.search.request import SearchRequest
from dovetail.tables.input_table import open_table
from support.command import dovetail as command
from support.sample import SAMPLE_LAKE

AIRPORTS = SAMPLE_LAKE / "transport/airports.csv"


@pytest.fixture(scope="module")
def lake(sample_index):
    return dovetail.Lake(sample_index)


def as_rows(hits):
    return [{**row, "source": None} for row in hits.to_dicts()]


@pytest.mark.parametrize("options", [{}, {"on": "country"}, {"on": "country", "threshold": 0.5}])
def test_the_last_answer_is_the_exact_one(lake, options):
    first, last = lake.search_iter(AIRPORTS, **options)
    assert (first.exact, last.exact) == (False, True)
    assert as_rows(last) == as_rows(lake.search(AIRPORTS, **options))
    assert as_rows(first) == as_rows(lake.search(AIRPORTS, fast=True, **options))
    assert last[0].preview(1) is not None


def test_long_posting_lists_have_an_approximate_answer_unasked(lake, sample_index, monkeypatch):
    (only,) = lake.search_iter(AIRPORTS, on="country", when_long=True)
    assert only.exact
    values = open_table(AIRPORTS).column("country").tokens.to_pylist()
    holders = sum(len(lake.find(value)) for value in values)
    read = stages.postings(lake.segments, SearchRequest(AIRPORTS, "country"), open_table(AIRPORTS))
    assert 0 < read <= holders  # tokens that the same columns hold share a list
    monkeypatch.setattr(stages, "LONG_LISTS", read)
    first, last = lake.search_iter(AIRPORTS, on="country", when_long=True)
    assert (first.exact, last.exact) == (False, True)
    asked = ("search", AIRPORTS, "--on", "country", "--index", sample_index)
    assert "The exact answer is the same." in command(*asked, terminal=True).out
    assert "The exact answer" not in command(*asked).out  # programs get one answer


def test_changes_lead_from_the_first_answer_to_the_last(lake):
    first, last = lake.search_iter(AIRPORTS)
    marked = {(change.hit.table, change.hit.columns): change for change in last.changes}
    before = {(hit.table, hit.columns): hit.rank for hit in first}
    assert len(marked) == len(set(before) | {(hit.table, hit.columns) for hit in last})
    for key, change in marked.items():
        assert change.earlier_rank == before.get(key)
        expected = "gone" if change.hit not in last else "new" if key not in before else None
        assert change.change == (expected or ("same" if before[key] == change.hit.rank else "moved"))
    found = sum((hit.table, hit.columns) in before for hit in last)
    assert last.recall == found / len(last)
    assert first.recall is None


def test_each_kind_of_change_is_marked(lake):
    one, two, three = lake.search(AIRPORTS, on="country", k=3)

    def answer(hits, before=None):
        return Hits(ranked(hits), "query", "equal", "overlap", True, 0.0, before=before)

    first = answer([one, two])
    last = answer([three, two, one], first)
    assert [change.change for change in last.changes] == ["new", "same", "moved"]
    assert [change.change for change in answer([one], first).changes] == ["same", "gone"]
    assert answer([three], first).recall == 0


@pytest.mark.parametrize("options", [{"on": ["country", "tz"]}, {"on": "city", "by": "semantic"}])
def test_what_sketches_do_not_know_has_one_answer(lake, options):
    (only,) = lake.search_iter(AIRPORTS, **options)
    assert only.exact
    assert {change.change for change in only.changes} <= {"new"}


def test_json_lines_end_each_answer(sample_index):
    answer = command("search", AIRPORTS, "--index", sample_index, "--json-lines")
    lines = [json.loads(line) for line in answer.out.splitlines()]
    assert answer.code == 0
    ends = [line for line in lines if line["change"] == "end"]
    assert [end["stage"] for end in ends] == ["approximate", "exact"]
    assert ends[1]["hits"] == sum(line["stage"] == "exact" and line["change"] not in ("end", "gone") for line in lines)
    assert 0 <= ends[1]["recall"] <= 1
    fast = command("search", AIRPORTS, "--index", sample_index, "--json-lines", "--fast").out
    assert {json.loads(line)["stage"] for line in fast.splitlines()} == {"approximate"}


def test_many_searches_answer_as_one_by_one(lake, tmp_path):
    names = ["transport/airports.csv", "geo/countries.csv", "transport/flights.csv"]
    answers = lake.search_many(names, k=3)
    assert [answer.query for answer in answers] == names
    for answer in answers:
        assert as_rows(answer.hits) == as_rows(lake.search(answer.query, k=3))
    table = answers.to_arrow()
    assert table.schema == SCHEMA
    assert table.num_rows == sum(len(answer.hits) for answer in answers)
    assert set(table["query"].to_pylist()) <= set(names)
    assert answers[0].hits[0].preview(1) is not None
    assert list(answers.to_pandas().columns) == SCHEMA.names


def test_a_query_that_fails_does_not_end_the_others(lake, tmp_path):
    (tmp_path / "good.csv").write_text("country\nFR\nDE\nCH\n")
    (tmp_path / "empty.csv").write_text("")
    answers = {answer.query: answer for answer in lake.search_many(tmp_path, on="country")}
    assert answers["good.csv"].hits
    assert "empty.csv" in answers["empty.csv"].error
    rows = [row for row in lake.search_many(tmp_path, on="country").to_arrow().to_pylist() if row["error"]]
    assert [(row["query"], row["table"]) for row in rows] == [("empty.csv", None)]


def test_queries_may_be_frames_or_named(lake):
    codes = {"code": ["FR", "DE", "CH"]}
    assert [answer.query for answer in lake.search_many([codes, "geo/countries.csv"])] == [
        "query 1",
        "geo/countries.csv",
    ]
    assert [answer.query for answer in lake.search_many({"mine": codes})] == ["mine"]
    with pytest.raises(InputError, match="There is no folder"):
        lake.search_many("nowhere")


def test_many_from_the_command_line(sample_index, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/codes.csv").write_text("country\nFR\nDE\nCH\n")
    arguments = ("search", "--many", tmp_path / "mine", "--index", sample_index, "-k", "2", "--on", "country")
    answer = command(*arguments)
    lines = [json.loads(line) for line in answer.out.splitlines()]
    assert (answer.code, [line["rank"] for line in lines], set(lines[0])) == (0, [1, 2], set(SCHEMA.names))
    output = tmp_path / "hits.parquet"
    assert command(*arguments, "-o", output).code == 0
    assert pyarrow.parquet.read_table(output).to_pylist() == lines


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Name one table"),
        (("a.csv", "--many", "b"), "Name one table"),
        (("a.csv", "-o", "b.parquet"), "--output needs --many"),
        (("a.csv", "--json-lines", "--json"), "do not go with"),
    ],
)
def test_options_that_exclude_each_other(sample_index, arguments, said):
    answer = command("search", *arguments, "--index", sample_index)
    assert answer.code == 2
    assert said in answer.err
