"""Who may ask: pages of other sites never, and from other machines only who knows the token."""

from __future__ import annotations

import hmac
import ipaddress
import json
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from dovetail.serve.limits import MB
from dovetail.serve.problems import FORBIDDEN, LENGTH_REQUIRED, TOO_LARGE, UNAUTHORISED

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

COOKIE = "dovetail_token"
_ENVELOPE = MB  # of a form around the file in it
# NiceGUI compiles templates and sets styles in the page; from other hosts nothing comes, and nothing goes there.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; object-src 'none'; frame-ancestors 'self'"
)
_HEADERS = (
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"SAMEORIGIN"),
)


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


class Guard:
    """Passes on what may be asked. Without a token, only this machine may, under its own name."""

    def __init__(self, app: App, token: str | None, most_bytes: int) -> None:
        self._app, self._token, self._most = app, token, most_bytes + _ENVELOPE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self._app(scope, receive, send)
        refusal = self._refusal(scope)
        if refusal is not None:
            return await _refuse(scope, send, *refusal)
        return await self._app(scope, receive, self._with_headers(scope, send))

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        if self._token is None and not is_loopback(_name(host)):
            return FORBIDDEN, "This server answers only requests to this machine."
        origin = headers.get(b"origin")
        if origin is not None and urlsplit(origin).netloc != host:  # "null", of a sandboxed page, is another site too
            return FORBIDDEN, "Pages of other sites may not use this server."
        if self._token is not None and not self._knows(scope, headers, self._token):
            return UNAUTHORISED, "A token is needed: add ?token=… to the address, or send it as a bearer token."
        return self._too_large(scope, headers.get(b"content-length"))

    def _too_large(self, scope: Scope, length: str | None) -> tuple[int, str] | None:
        """Refuse before anything is read; a body of unknown length could be of any."""
        if scope["type"] != "http" or scope["method"] not in ("POST", "PUT", "PATCH"):
            return None
        if length is None or not length.isdigit():
            return LENGTH_REQUIRED, "Say how long the body is, in Content-Length."
        if int(length) > self._most:
            return TOO_LARGE, f"The body is larger than {self._most // MB:,} MB."
        return None

    @staticmethod
    def _knows(scope: Scope, headers: dict[bytes, str], token: str) -> bool:
        given = [*_query_token(scope), headers.get(b"authorization", "").removeprefix("Bearer ")]
        cookie = SimpleCookie(headers.get(b"cookie", "")).get(COOKIE)
        given += [cookie.value] if cookie else []
        return any(hmac.compare_digest(each.encode(), token.encode()) for each in given)

    def _with_headers(self, scope: Scope, send: Send) -> Send:
        """Answers forbid browsers to guess; who came with a token in the address keeps it as a cookie."""
        cookie = self._token is not None and scope["type"] == "http" and _query_token(scope)

        async def extended(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                extra = list(_HEADERS)
                if cookie:
                    value = f"{COOKIE}={self._token}; HttpOnly; SameSite=Strict; Path=/"
                    extra.append((b"set-cookie", value.encode()))
                message = {**message, "headers": [*message.get("headers", ()), *extra]}
            await send(message)

        return extended


def _query_token(scope: Scope) -> list[str]:
    return parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [])


def _name(host: str) -> str:
    """The host without its port."""
    return host.rpartition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]


async def _refuse(scope: Scope, send: Send, status: int, sentence: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": sentence})
        return
    headers = [(b"content-type", b"application/json"), *_HEADERS]
    if status == UNAUTHORISED:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"error": sentence}).encode()})
