"""Connections to the server: who begins to ask must go on, or others could not."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 20.0
"""For an address with its headers, generously: they are sent at once. uvicorn itself would wait forever."""


class PatientProtocol(H11Protocol):
    """HTTP by h11; a connection on which no whole request has come in time is closed."""

    _closing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_watching()

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
