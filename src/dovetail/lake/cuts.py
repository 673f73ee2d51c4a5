"""Where a large file of delimited text can be cut, found by many tasks.

Whether a new line ends a record depends on all bytes before it: it may lie between quotes. So places are guessed from
the bytes around them, and each is checked by walking over the records from the place before it. Where every walk ends
at the next place, all of them are starts of records, since the first is one. Where one does not, `split` walks over the
whole file.
"""

from __future__ import annotations

import csv

import numpy as np

from dovetail._types import Array
from dovetail.lake.blocks import BLOCK_BYTES, LONG_RECORD, record_rules
from dovetail.lake.delimited import is_divisible, raw_body
from dovetail.lake.encoding import STRAYS
from dovetail.lake.frame import TAIL_BYTES
from dovetail.lake.layout import Layout, Part
from dovetail.lake.object_path import TablePath
from dovetail.lake.record_kernels import close_of, last_boundary, line_end, record_starts
from dovetail.lake.streams import open_bytes, reasons

# Looked at for a guess. Arbitrary: some hundred records of most tables; a wrong guess costs time and nothing else.
_WINDOW = 1 << 18
_RECORDS = 64


def guess_parts(path: TablePath, layout: Layout, target_bytes: int) -> list[Part]:
    """Parts of about `target_bytes` that begin where records probably do; one part where nothing can be guessed."""
    if layout.format != "delimited" or not is_divisible(layout):
        return [Part()]
    with reasons():
        size, target = path.stat().st_size, max(target_bytes, TAIL_BYTES)
        with open_bytes(path, "") as file:
            cuts = []
            for place in range(raw_body(file, layout) + target, size - TAIL_BYTES - target // 2, target):
                file.seek(place)
                window = np.frombuffer(file.read(min(_WINDOW, size - TAIL_BYTES - place)), dtype=np.uint8)
                start = _probable_start(window, layout)
                if start:
                    cuts.append(place + start)
    return [Part(start, stop) for start, stop in zip([0, *cuts], [*cuts, None], strict=True)]


def is_exact(path: TablePath, layout: Layout, part: Part) -> bool:
    """Whether a walk over the records from the start of the part, which is taken for that of one, ends at its stop."""
    if part.stop is None:
        return True
    rules = record_rules(layout)
    rest = b""
    with reasons(), open_bytes(path, "") as file:
        start = part.start or raw_body(file, layout)
        file.seek(start)
        left = part.stop - start
        while left > 0:
            chunk = file.read(min(left, BLOCK_BYTES))
            if not chunk or len(rest) > LONG_RECORD:
                return False
            left -= len(chunk)
            rest += chunk
            rest = rest[last_boundary(np.frombuffer(rest, dtype=np.uint8), rules)[0] :]
        if rest:  # a carriage return at the end: whether a line feed follows decides
            rest += file.read(1)
            return last_boundary(np.frombuffer(rest, dtype=np.uint8), rules)[0] == len(rest) - 1
    return True


def _probable_start(window: Array, layout: Layout) -> int:
    """The start of a record in the window; 0 where no record of the table is seen.

    The window begins outside of quotes or between two: taken is what makes more of its records as wide as the table.
    The start is that of the last of these records, because a walk from a wrong place soon gets into step.
    """
    starts = [line_end(window, 0)]
    if layout.quote:
        close, _ = close_of(window, 0, ord(layout.quote), ord(layout.escape) if layout.escape else -1)
        if close >= 0:
            starts.append(line_end(window, close + 1))
    walks = [(*_regular_share(window[start:], layout), start) for start in starts]
    share, length, start = max(walks, key=lambda walk: walk[0])
    return int(start + length) if share else 0


def _regular_share(data: Array, layout: Layout) -> tuple[float, int]:
    """The share of the first records that have the width of the table, and how many bytes these records have."""
    ends, literal = record_starts(data, record_rules(layout), False)
    number = min(len(literal), _RECORDS)
    text = [data[ends[n] : ends[n + 1]].tobytes().decode(layout.encoding, errors=STRAYS) for n in range(number)]
    regular = sum(
        not stray and _width(record, layout) == len(layout.columns)
        for record, stray in zip(text, literal[:number].tolist(), strict=True)
    )
    return (regular / number, ends[number]) if number else (0.0, 0)


def _width(record: str, layout: Layout) -> int:
    rows = csv.reader(
        record.splitlines(keepends=True), delimiter=layout.delimiter, quotechar=layout.quote or None,
        escapechar=layout.escape or None, quoting=csv.QUOTE_MINIMAL if layout.quote else csv.QUOTE_NONE,
        skipinitialspace=layout.skip_space,
    )  # fmt: skip
    return len(next(rows, []))
