"""REST: the same answers as the library, limits, failures in one sentence, and no way to the server's files."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import time
from unittest.mock import Mock

import jsonschema
import pyarrow as pa
import pyarrow.parquet
import pytest
from starlette.testclient import TestClient

from dovetail.api.lake import Lake
from dovetail.serve.downloads import Downloads, chunks
from dovetail.serve.limits import Limits
from dovetail.serve.problems import Busy
from support.decided_lake import AIRPORTS, make_index
from support.pipeline import index, without_spark
from support.served import HERE, client_of


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_index(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def client(made):
    with client_of(made) as client:
        yield client


def told(answer, status=200):
    assert answer.status_code == status, answer.text
    return answer.json()


def refused(answer, status):
    """One sentence, and nothing of the code."""
    body = told(answer, status)
    assert list(body) == ["error"] and body["error"].endswith((".", "?", "!", "…"))
    assert "\n" not in body["error"] and "Traceback" not in body["error"]
    return body["error"]


def sent(client, text, name="mine.csv"):
    return told(client.post("/uploads.json", files={"file": (name, text)}))


MINE = "airport,visits\n" + "".join(f"{code},{n}\n" for n, code in enumerate(AIRPORTS)) + "XXX,99\n"


def test_search_is_that_of_the_library(client, made):
    found = told(client.get("/search.json", params={"table": "flights.csv"}))
    wanted = Lake(made).search("flights.csv").to_json()
    assert found["hits"] and [hit["table"] for hit in found["hits"]] == [hit["table"] for hit in wanted["hits"]]
    assert found["hits"] == wanted["hits"]


def test_hits_stream_by_stages(client):
    answer = client.get("/search.events", params={"table": "flights.csv", "on": "origin"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [part.split("\n") for part in answer.text.strip().split("\n\n")]
    ends = [json.loads(data.removeprefix("data: ")) for kind, data in events if kind == "event: end"]
    assert [end["stage"] for end in ends] == ["approximate", "exact"]
    exact = [json.loads(data.removeprefix("data: ")) for kind, data in events if kind == "event: hit"]
    assert {"airports.csv"} <= {hit["table"] for hit in exact if hit["stage"] == "exact"}
    refused(client.get("/search.events", params={"table": "nowhere.csv"}), 404)


@pytest.mark.parametrize(
    "address",
    [
        "/union.json?table=teams.csv", "/predicates.json?table=flights.csv&table=airports.csv", "/keys.json",
        "/foreign_keys.json", "/inds.json", "/graph.json", "/graph.json?edges=inds",
        "/explorer.json?edges=inds", "/tables.json", "/tables/flights.csv.json",
        "/rows.json?table=flights.csv&limit=3", "/find.json?value=ZRH", "/find.json?column=*car*", "/info.json",
        "/paths.json?start=flights.csv&end=carriers.csv", "/decisions.json", "/history.json?table=flights.csv",
        "/map.json?table=airports.csv&column=city&example=City of ZRH=ZRH", "/openapi.json",
    ],
)  # fmt: skip
def test_every_question_is_answered(client, address):
    assert told(client.get(address)) is not None


def test_a_table_goes_all_the_way(client):
    """Sent, searched with, joined, queried, downloaded; and how it was made is known."""
    mine = sent(client, MINE)
    assert mine["columns"] == ["airport", "visits"] and mine["data"][0] == ["ZRH", 0]
    hit = told(client.get("/search.json", params={"table": mine["table"]}))["hits"][0]
    assert hit["table"] == "airports.csv" and hit["on"] == ["airport"]
    asked = {"table": mine["table"], "with": hit["table"], "on": "airport=code", "how": "left"}
    counted = told(client.get("/join.json", params={**asked, "rows": 0}))
    assert counted["table"] is None and counted["rows"] == 13
    joined = told(client.get("/join.json", params=asked))
    assert len(joined["data"]) == 13 and joined["data"][0] == ["ZRH", 0, "ZRH", "City of ZRH"]
    summed = told(
        client.get("/sql.json", params={"table": joined["table"], "query": "SELECT sum(visits) AS s FROM result"})
    )
    assert float(summed["data"][0][0]) == sum(range(12)) + 99
    steps = [step["step"] for step in told(client.get("/history.json", params={"table": summed["table"]}))]
    assert [step and step["verb"] for step in steps] == [None, "join", "sql"]
    assert told(client.get("/join.json", params=asked))["table"] == joined["table"], "the same step, the same name"


def test_downloads(client):
    mine = sent(client, "name,amount\n=1+1,5\nbell,6\n")
    csv = client.get("/download.csv", params={"table": mine["table"]})
    assert csv.text == "name,amount\n=1+1,5\nbell,6\n" and "attachment" in csv.headers["content-disposition"]
    table = pyarrow.parquet.read_table(
        io.BytesIO(client.get("/download.parquet", params={"table": mine["table"]}).content)
    )
    assert table.schema.field("amount").type == pa.int64()
    import openpyxl

    sheet = openpyxl.load_workbook(
        io.BytesIO(client.get("/download.xlsx", params={"table": mine["table"]}).content)
    ).active
    assert sheet["A2"].value == "=1+1" and sheet["A2"].data_type == "s", "a formula stays text"
    assert sheet["B2"].value == 5


def test_downloads_at_the_same_time_are_limited(tmp_path):
    table, downloads = pa.table({"a": ["1"]}), Downloads(tmp_path, 2)
    held = [downloads.write(table, "csv"), downloads.write(table, "parquet")]
    with pytest.raises(Busy):
        downloads.write(table, "csv")
    assert b"".join(chunks(held.pop(0))) == b"a\n1\n"
    downloads.check_room()
    assert not list(tmp_path.iterdir()), "nothing is left over, whatever becomes of the server"


def test_no_name_is_taken_for_a_file(client, made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    for name in ("secret.csv", str(tmp_path / "secret.csv"), "/etc/passwd", "../lake/flights.csv", "s3://bucket/x.csv"):
        for address in ("/search.json", "/rows.json", "/union.json", "/history.json", "/download.csv"):
            refused(client.get(address, params={"table": name}), 404)
        refused(client.get("/join.json", params={"table": "flights.csv", "with": name}), 404)
        refused(client.get("/sql.json", params={"table": name, "query": "SELECT 1"}), 404)


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/search.json", 422), ("/search.json?table=flights.csv&k=0", 422), ("/search.json?table=fligths.csv", 404),
        ("/search.json?table=flights.csv&on=orign", 404), ("/find.json", 400), ("/nowhere", 404),
        ("/search.json?table=flights.csv&by=semantic&fast=true", 400), ("/map.json?table=airports.csv", 400),
        ("/rows.json?table=upload-0123456789abcdef01234567", 410),
        ("/join.json?table=flights.csv&with=airports.csv&program=x", 400),
        ("/sql.json?table=flights.csv&query=DROP TABLE result", 400), ("/tables/nowhere.csv.json", 404),
    ],
)  # fmt: skip
def test_failures_are_a_sentence(client, address, status):
    refused(client.get(address), status)


def test_a_bug_is_a_sentence_too(client, monkeypatch):
    def fail(*_):
        raise RuntimeError("secret of the code")

    monkeypatch.setattr(client.served.service, "history", fail)
    assert "secret" not in refused(client.get("/history.json?table=flights.csv"), 500)


def test_a_store_that_fails_is_a_sentence_and_a_line_of_the_log(client, monkeypatch, caplog):
    """The web server would print a traceback of what reaches it."""
    place = "s3://bucket/index/decisions.json"
    monkeypatch.setattr("dovetail.api.lake.decisions_digest", Mock(side_effect=OSError(5, "HTTP error", place)))
    raising = TestClient(client.served.app, base_url=HERE)
    error = refused(raising.get("/search.json", params={"table": "flights.csv"}), 503)
    assert "bucket" not in error and "Try again later" in error
    (line,) = caplog.records
    assert line.exc_info is None and f"cannot use {place}: HTTP error" in line.message


def test_uploads_are_limited(made):
    with client_of(made, limits=Limits(upload_mb=1, table_mb=2)) as client:
        refused(client.post("/uploads.json", files={"file": ("big.csv", b"a\n" + b"x" * 3_000_000)}), 413)
        bomb = gzip.compress(b"a,b\n" + b"0123456789,0123456789\n" * 400_000)
        assert len(bomb) < 100_000
        refused(client.post("/uploads.json", files={"file": ("bomb.csv.gz", bomb)}), 413)
        refused(client.post("/uploads.json", files={"file": ("prose.pdf", b"%PDF-1.4 nothing")}), 400)


def test_joins_are_limited(made):
    with client_of(made, limits=Limits(rows=10)) as client:
        asked = {"table": "games.csv", "with": "teams.csv", "on": "year=year"}
        refused(client.get("/join.json", params=asked), 400)


def test_results_that_made_room_are_made_again(made, tmp_path):
    with client_of(made, keep=tmp_path / "kept") as client:
        asked = {"table": "flights.csv", "with": "airports.csv", "on": "origin=code"}
        joined = told(client.get("/join.json", params=asked))
    (tmp_path / "kept" / f"{joined['table']}.parquet").unlink()
    with client_of(made, keep=tmp_path / "kept") as client:
        again = told(client.get("/rows.json", params={"table": joined["table"]}))
        assert again["data"] == joined["data"]


def test_decisions_are_kept_with_the_index(made, tmp_path):
    copy = shutil.copytree(made, tmp_path / "idx")
    pair = {"left": "flights.csv", "right": "airports.csv", "on": "origin=code"}
    with client_of(copy) as client:
        told(client.post("/decisions.json", json={**pair, "verdict": "never"}))
        found = told(client.get("/search.json", params={"table": "flights.csv", "on": "origin"}))
        assert "airports.csv" not in [hit["table"] for hit in found["hits"]]
        told(client.delete("/decisions.json", params=pair))
        assert told(client.get("/decisions.json")) == []
        refused(client.delete("/decisions.json", params=pair), 404)
    with client_of(copy, read_only=True) as client:
        refused(client.post("/decisions.json", json={**pair, "verdict": "never"}), 403)


def test_decisions_about_values_make_another_join(made, tmp_path):
    copy = shutil.copytree(made, tmp_path / "idx")
    with client_of(copy) as client:
        mine = sent(client, "code,n\nZRHH,1\nBER,2\n", "mine.csv")
        asked = {"table": mine["table"], "with": "airports.csv", "on": "code", "how": "left"}
        before = told(client.get("/join.json", params=asked))
        assert before["data"][0][:2] == ["ZRHH", 1] and before["matched_left"] == 1
        values = ["ZRHH", "zrh"]
        pair = {"left": "mine.csv", "right": "airports.csv", "on": "code"}
        told(client.post("/decisions.json", json={**pair, "verdict": "joins", "values": values}))
        after = told(client.get("/join.json", params=asked))
        assert after["matched_left"] == 2 and after["decided_pairs"] == 1 and after["table"] != before["table"]
        assert after["data"][0] == ["ZRHH", 1, "ZRH", "City of ZRH"]
        refused(client.post("/decisions.json", json={**pair, "verdict": "joins", "values": ["x"]}), 422)
        told(client.delete("/decisions.json", params={**pair, "values": values}))
        assert told(client.get("/join.json", params=asked))["matched_left"] == 1


def test_a_busy_server_says_when_to_come_back(made, monkeypatch):
    def full():
        raise Busy(7)

    with client_of(made) as client:
        monkeypatch.setattr(client.served.workers._tables, "check_room", full)
        answer = client.get("/search.json", params={"table": "flights.csv"})
        assert "7 seconds" in refused(answer, 503) and answer.headers["retry-after"] == "7"
        assert told(client.get("/decisions.json")) == [], "what is only looked up does not wait"


def test_a_new_generation_is_noticed(tmp_path):
    made = make_index(tmp_path)
    with client_of(made) as client:
        (tmp_path / "lake" / "new.csv").write_text("code,runways\n" + "".join(f"{code},2\n" for code in AIRPORTS))
        with without_spark():
            index(tmp_path / "lake", made)
        ends = time.monotonic() + 20
        while time.monotonic() < ends:
            if told(client.get("/info.json"))["generation"] == 2:
                break
            time.sleep(0.2)
        assert told(client.get("/tables/new.csv.json"))["rows"] == len(AIRPORTS)


def test_every_answer_fits_its_schema(client):
    """The schemas are made of examples, so an example that is no longer like the answers is found here."""
    described = told(client.get("/openapi.json"))["paths"]
    mine = sent(client, MINE)
    asked = {
        "/search.json": {"table": "flights.csv"}, "/union.json": {"table": "teams.csv"},
        "/join.json": {"table": mine["table"], "with": "airports.csv", "by": "similar"},
        "/sql.json": {"table": "flights.csv", "query": "SELECT 1 AS one"},
        "/map.json": {"table": "airports.csv", "column": "city", "example": "City of ZRH=ZRH"},
        "/predicates.json": {"table": ["flights.csv", "airports.csv"]}, "/find.json": {"value": "ZRH"},
        "/paths.json": {"start": "flights.csv", "end": "carriers.csv"}, "/rows.json": {"table": mine["table"]},
        "/history.json": {"table": mine["table"]},
        **{f"/{verb}.json": {} for verb in ("keys", "foreign_keys", "inds", "graph", "tables", "decisions", "info")},
    }  # fmt: skip
    for path, params in asked.items():
        content = described[path]["get"]["responses"]["200"]["content"]["application/json"]
        jsonschema.validate(told(client.get(path, params=params)), content["schema"])
        jsonschema.validate(content["example"], content["schema"])
    profile = described["/tables/{name}.json"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.validate(told(client.get("/tables/flights.csv.json")), profile)
