"""SQL on a table that somebody else may have written: see `sql_child` for what it cannot do."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pyarrow as pa

from dovetail._cancel import check_cancelled
from dovetail.errors import InputError
from dovetail.serve.limits import Limits
from dovetail.serve.problems import OUT_OF_TIME, TOO_LARGE, Refused
from dovetail.serve.sql_child import BAD_QUERY

_LOOK = 0.05  # seconds between two looks at the clock


def run_sql(table: pa.Table, query: str, limits: Limits) -> pa.Table:
    """The rows of a SELECT over `table`, which it calls `result`."""
    command = [sys.executable, "-I", "-m", "dovetail.serve.sql_child", str(limits.sql_mb), str(limits.rows)]
    environment = {"PATH": os.defpath, "OPENBLAS_NUM_THREADS": "1"}  # nothing of ours
    given, pipe = table.replace_schema_metadata({"query": query}), subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment) as child:
        talk = _Talk(child, given)
        try:
            _wait(talk, limits)
        finally:
            child.kill()
            talk.join()
        return _rows(child.wait(), talk, limits)


class _Talk(threading.Thread):
    """Hands the table over and takes the answer, while another thread looks at the clock."""

    def __init__(self, child: subprocess.Popen[bytes], given: pa.Table) -> None:
        super().__init__(daemon=True)
        self._child, self._given = child, given
        self.out, self.err = b"", b""
        self.start()

    def run(self) -> None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self._given.schema) as stream:
            stream.write_table(self._given)
        self.out, self.err = self._child.communicate(sink.getvalue().to_pybytes())


def _wait(talk: _Talk, limits: Limits) -> None:
    ends = time.monotonic() + limits.sql_seconds
    while talk.is_alive():
        talk.join(_LOOK)
        check_cancelled()
        if time.monotonic() > ends and talk.is_alive():
            raise Refused(OUT_OF_TIME, f"The query takes longer than {limits.sql_seconds:g} seconds.")


def _rows(code: int, talk: _Talk, limits: Limits) -> pa.Table:
    if code == BAD_QUERY:
        sentence = talk.err.decode(errors="replace")
        raise InputError(sentence if sentence.endswith((".", "!", "?")) else f"{sentence}.")
    if code == 1:
        raise RuntimeError(talk.err.decode(errors="replace"))
    if code:  # it said so, or was ended where an allocation failed
        raise Refused(TOO_LARGE, f"The query needs more than {limits.sql_mb:,} MB of memory.")
    with pa.ipc.open_stream(talk.out) as stream:
        found = stream.read_all()
    if found.num_rows > limits.rows:
        raise Refused(TOO_LARGE, f"The answer has more than {limits.rows:,} rows; add a LIMIT.")
    if found.nbytes > limits.table_bytes:
        raise Refused(TOO_LARGE, f"The answer needs more than {limits.table_mb:,} MB of memory; add a LIMIT.")
    return found
