"""Connections to the server: who begins to ask must go on, and who asked must take the answer, or others could not."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 20.0
"""For an address with its headers, generously: they are sent at once. uvicorn itself would wait forever."""
LOOK_SECONDS = 10.0
"""Between two looks whether a body or an answer moves."""
SLOWEST = 1_000
"""Bytes a second that a client must send of a body, and take of an answer. Arbitrary: modems were faster."""


@dataclass(frozen=True)
class _Seen:
    """A connection at one moment."""

    request: object
    sends: bool  # whether the client has more to send, and the server takes it
    received: int
    left: int  # bytes of the answer that the client has not taken


class PatientProtocol(H11Protocol):
    """HTTP by h11; a connection is closed where no whole request comes in time, or where body or answer stand still."""

    _closing: asyncio.TimerHandle | None = None
    _looking: asyncio.TimerHandle | None = None
    _seen: _Seen | None = None
    _received = 0
    _has_moved = False  # that the client has taken nearly all that it was sent, since the last look

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()
        self._looking = self.loop.call_later(LOOK_SECONDS, self._look)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)
        self._watch()

    def resume_writing(self) -> None:
        self._has_moved = True
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_watching()
        if self._looking is not None:
            self._looking.cancel()

    def _watch(self) -> None:
        """Count from the first byte of a request to the end of its headers, or from the connection where none comes."""
        if self.conn.their_state is not h11.IDLE:
            self._stop_watching()
        elif self._closing is None:
            self._closing = self.loop.call_later(HEAD_SECONDS, self._close)

    def _close(self) -> None:
        self._closing = None
        if self.conn.their_state is h11.IDLE:
            self.transport.close()

    def _stop_watching(self) -> None:
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None

    def _look(self) -> None:
        if self.transport.get_protocol() is not self:  # it has become a web socket
            return
        sends = self.conn.their_state is h11.SEND_BODY and not self.flow.read_paused
        now = _Seen(self.cycle, sends, self._received, self.transport.get_write_buffer_size())
        if self._seen and self._stands_still(self._seen, now):
            self.transport.abort()
            return
        self._seen, self._has_moved = now, False
        self._looking = self.loop.call_later(LOOK_SECONDS, self._look)

    def _stands_still(self, before: _Seen, now: _Seen) -> bool:
        if before.request is not now.request:
            return False
        least = SLOWEST * LOOK_SECONDS
        sends_nothing = before.sends and now.sends and now.received - before.received < least
        takes_nothing = before.left > 0 < now.left and not self._has_moved and before.left - now.left < least
        return sends_nothing or takes_nothing
