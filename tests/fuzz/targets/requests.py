"""Addresses and bodies that a server is sent: every answer is JSON, and none is a failure of the server."""

from __future__ import annotations

import contextlib
import functools
import tempfile
from pathlib import Path
from typing import Any

from support.decided_lake import make_index
from support.served import client_of

_ADDRESSES = (
    "search.json?table=", "join.json?table=geo/a.csv&with=", "tables/", "rows.json?table=", "find.json?value=",
    "sql.json?table=x&query=", "predicates.json?table=a&table=", "search.json?",
)  # fmt: skip
_UPLOAD, _DECISION = len(_ADDRESSES), len(_ADDRESSES) + 1
SEEDS = [
    b"\x00../../etc/passwd", b"\x01x&program={\"a\":1}", b"\x02..%2f..%2fetc%2fpasswd", b"\x04Z\xc3\xbcrich",
    b"\x07table=a&on=b&k=9&by=equal", bytes([_UPLOAD]) + b"a,b\n1,2\n",
    bytes([_DECISION]) + b'{"left": "a", "right": "b", "on": "c=d", "verdict": "accept"}',
]  # fmt: skip


OPEN = contextlib.ExitStack()  # for as long as the process lives


@functools.cache
def _client() -> Any:
    folder = Path(tempfile.mkdtemp(prefix="dovetail-fuzz-"))
    return OPEN.enter_context(client_of(make_index(folder)))


def check(data: bytes) -> None:
    kind, content = (data[0] % (_DECISION + 1), data[1:]) if data else (0, b"")
    client = _client()
    if kind == _UPLOAD:
        answer = client.post("/uploads.json", files={"file": ("mine.csv", content)})
    elif kind == _DECISION:
        answer = client.post("/decisions.json", content=content, headers={"content-type": "application/json"})
    else:
        text = "".join(each for each in content.decode("latin-1") if each.isprintable() and each != "#")
        answer = client.get(f"/{_ADDRESSES[kind]}{text}"[:60_000])
    assert answer.status_code < 500, answer.text
    assert "root:" not in answer.text
    if answer.headers.get("content-type", "").startswith("application/json"):
        answer.json()
