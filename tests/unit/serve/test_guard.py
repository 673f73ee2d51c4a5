"""Who may ask a server."""

from __future__ import annotations

import pytest

from dovetail.serve.guard import is_loopback
from support.decided_lake import make_index
from support.served import client_of


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_index(tmp_path_factory.mktemp("guarded"))


def test_without_a_token_only_this_machine_is_answered(made):
    with client_of(made) as client:
        assert client.get("/decisions.json").status_code == 200
        assert client.get("/decisions.json", headers={"host": "localhost:8484"}).status_code == 200
        assert client.get("/decisions.json", headers={"host": "evil.example"}).status_code == 403
        assert client.get("/decisions.json", headers={"origin": "http://evil.example"}).status_code == 403
        assert client.get("/decisions.json", headers={"origin": "null"}).status_code == 403  # a sandboxed frame
        assert client.get("/decisions.json", headers={"origin": "http://127.0.0.1"}).status_code == 200


def test_with_a_token_whoever_knows_it(made):
    with client_of(made, token="correct") as client:
        elsewhere = {"host": "lake.example"}
        assert client.get("/decisions.json", headers=elsewhere).status_code == 401
        assert client.get("/decisions.json?token=wrong", headers=elsewhere).status_code == 401
        bearer = {**elsewhere, "authorization": "Bearer correct"}
        assert client.get("/decisions.json", headers=bearer).status_code == 200
        first = client.get("/decisions.json?token=correct", headers=elsewhere)
        assert first.status_code == 200 and "HttpOnly" in first.headers["set-cookie"]
        cookie = {**elsewhere, "cookie": "dovetail_token=correct"}
        assert client.get("/decisions.json", headers=cookie).status_code == 200


def test_answers_forbid_guessing(made):
    with client_of(made) as client:
        assert client.get("/decisions.json").headers["x-content-type-options"] == "nosniff"


def test_a_body_must_have_a_length(made):
    with client_of(made) as client:
        assert client.post("/uploads.json", content=iter([b"x"])).status_code == 411


@pytest.mark.parametrize(
    ("host", "here"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("[::1]", True), ("127.9.9.9", True),
     ("0.0.0.0", False), ("192.168.1.4", False), ("localhost.evil.example", False)],
)  # fmt: skip
def test_which_hosts_are_this_machine(host, here):
    assert is_loopback(host) is here
