"""A small server that speaks as much of S3 as an index needs, over a folder, and that fails as it is told to.

`Trouble` says which share of the requests is answered with 500 or 503, before or after they were carried out, or late.
"""

from __future__ import annotations

import hashlib
import http.server
import os
import random
import socket
import time
import urllib.parse
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from xml.sax.saxutils import escape

BUCKET = "bucket"


@dataclass(frozen=True)
class Trouble:
    """What a server does wrong."""

    status: int = 0
    """500 or 503; 0 for answers that are right, but late."""
    share: float = 0.0
    """Of the requests."""
    seconds: float = 0.0
    """How late they are answered."""
    seed: int = 0


def listening() -> socket.socket:
    """A socket on a free port of this machine."""
    opened = socket.create_server(("127.0.0.1", 0), backlog=128)
    opened.set_inheritable(True)
    return opened


def serve(listener: socket.socket, folder: Path, trouble: Trouble) -> int:
    """Answer until the process is ended."""
    chance = random.Random(trouble.seed)

    class Handler(_Handler):
        root = folder

        def handle_one(self) -> None:
            failing = chance.random() < trouble.share
            if failing:
                time.sleep(trouble.seconds)
            if failing and trouble.status and (self.command == "GET" or chance.random() < 0.5):
                self.reply(trouble.status)  # it was not carried out
                return
            if failing and trouble.status:
                self.broken = trouble.status  # it was carried out, and the client is told otherwise
            super().handle_one()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener
    server.serve_forever()
    return 0


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    root: Path
    broken = 0

    def handle_one(self) -> None:
        address = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(address.query, keep_blank_values=True))
        name = urllib.parse.unquote(address.path).removeprefix(f"/{BUCKET}").strip("/")
        path = self.root / name
        if "list-type" in query:
            self.list(query)
        elif self.command in ("GET", "HEAD"):
            self.get(path)
        elif self.command == "PUT":
            self.put(path)
        elif self.command == "DELETE":
            path.unlink(missing_ok=True)
            self.reply(204)
        else:  # POST ?delete
            self.delete_many()

    def handle_request(self) -> None:
        self.broken = 0
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.handle_one()

    do_GET = do_HEAD = do_PUT = do_DELETE = do_POST = handle_request

    def get(self, path: Path) -> None:
        if not path.is_file():
            self.reply(404, b"<Error><Code>NoSuchKey</Code></Error>")
            return
        data = path.read_bytes()
        headers = {"ETag": _tag(data), "Last-Modified": formatdate(path.stat().st_mtime, usegmt=True)}
        wanted = self.headers.get("Range")
        if wanted:
            first, last = wanted.removeprefix("bytes=").split("-")
            end = min(int(last) + 1, len(data)) if last else len(data)
            headers["Content-Range"] = f"bytes {first}-{end - 1}/{len(data)}"
            data = data[int(first) : end]
        self.reply(206 if wanted else 200, data, **headers)

    def put(self, path: Path) -> None:
        source = self.headers.get("x-amz-copy-source")
        if source:
            name = urllib.parse.unquote(source).strip("/").removeprefix(f"{BUCKET}/")
            self.body = (self.root / name).read_bytes()
        path.parent.mkdir(parents=True, exist_ok=True)
        expected = self.headers.get("If-Match")
        if expected and (not path.exists() or _tag(path.read_bytes()) != expected):
            self.reply(412, b"<Error><Code>PreconditionFailed</Code></Error>")
            return
        draft = path.with_name(f".{path.name}.{time.monotonic_ns()}")
        draft.write_bytes(self.body)
        try:
            if self.headers.get("If-None-Match") == "*":
                os.link(draft, path)  # of several, one wins
            else:
                draft.replace(path)
        except FileExistsError:
            self.reply(412, b"<Error><Code>PreconditionFailed</Code></Error>")
            return
        finally:
            draft.unlink(missing_ok=True)
        tag = _tag(self.body)
        if source:
            text = f"<CopyObjectResult><ETag>{escape(tag)}</ETag><LastModified>{_when(path)}</LastModified>"
            self.reply(200, f"{text}</CopyObjectResult>".encode())
        else:
            self.reply(200, ETag=tag)

    def delete_many(self) -> None:
        names = [part.split("</Key>")[0] for part in self.body.decode().split("<Key>")[1:]]
        for name in names:
            (self.root / name).unlink(missing_ok=True)
        deleted = "".join(f"<Deleted><Key>{escape(name)}</Key></Deleted>" for name in names)
        self.reply(200, f"<DeleteResult>{deleted}</DeleteResult>".encode())

    def list(self, query: dict[str, str]) -> None:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        found, folders = [], set()
        for path in sorted(self.root.rglob("*")):
            name = path.relative_to(self.root).as_posix()
            if not path.is_file() or path.name.startswith(".") or not name.startswith(prefix):
                continue
            head, cut, _ = name[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
            if cut:
                folders.add(f"{prefix}{head}{delimiter}")
                continue
            found.append(
                f"<Contents><Key>{escape(name)}</Key><Size>{path.stat().st_size}</Size>"
                f"<LastModified>{_when(path)}</LastModified><ETag>{escape(_tag(path.read_bytes()))}</ETag></Contents>"
            )
        prefixes = "".join(f"<CommonPrefixes><Prefix>{escape(p)}</Prefix></CommonPrefixes>" for p in sorted(folders))
        count = f"<KeyCount>{len(found)}</KeyCount><IsTruncated>false</IsTruncated>"
        self.reply(200, f"<ListBucketResult>{count}{''.join(found)}{prefixes}</ListBucketResult>".encode())

    def reply(self, status: int, body: bytes = b"", **headers: str) -> None:
        if self.broken:
            status, body, headers = self.broken, b"", {}
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


def _tag(data: bytes) -> str:
    return f'"{hashlib.md5(data).hexdigest()}"'


def _when(path: Path) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(path.stat().st_mtime))
