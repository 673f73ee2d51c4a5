"""What indexes freeze when the first tables come, for all segments and queries; XASH after a look at those tables."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from dovetail.catalog.profile import count_values
from dovetail.errors import UnreadableTable
from dovetail.indexes.mate.core import SuperKeyParameters, alpha
from dovetail.indexes.mate.index import MATE
from dovetail.indexes.pexeso.core import VectorParameters as Vectors
from dovetail.indexes.pexeso.index import PEXESO
from dovetail.lake.listing import TableFile, is_spark
from dovetail.lake.reader import read
from dovetail.lake.source import source_of
from dovetail.lake.streams import reasons
from dovetail.pipeline.plan import read_bytes
from dovetail.pipeline.reading import layout_of
from dovetail.settings import Settings

# Enough for frequencies of characters, which is all that is asked of them; arbitrary beyond that.
_FILES = 64
_ROWS = 2_000
_CHARACTERS = 512  # of the lake, the most frequent; the others count as equally rare. Keeps the manifest small


def freeze(files: Sequence[TableFile], settings: Settings, vectors: Vectors) -> dict[str, dict[str, Any]]:
    """What the manifest freezes, by index, when the first tables come."""
    bits = settings.frozen("super_key_bits")
    by_xash = bits and settings.frozen("super_key_xash")
    parameters = _survey(files, bits) if by_xash else SuperKeyParameters("fitted", bits)
    return {MATE.name: parameters.to_json(), PEXESO.name: vectors.to_json()}


def _survey(files: Sequence[TableFile], bits: int) -> SuperKeyParameters:
    """XASH as it suits tables spread over all that are to be read: alpha, and how frequent characters are."""
    characters: Counter[str] = Counter()
    values = seen_bytes = 0
    for file in files[:: max(1, len(files) // _FILES)]:
        for column in _first_rows(file):
            distinct = count_values(column).folded
            values += len(distinct)
            seen_bytes += column.nbytes
            characters.update("".join(distinct.to_pylist()))
    in_all = values * sum(map(read_bytes, files)) // max(seen_bytes, 1)
    most = sorted(characters, key=lambda character: (-characters[character], character))[:_CHARACTERS]
    return SuperKeyParameters("xash", bits, alpha(bits, max(in_all, values)), "".join(most))


def _first_rows(file: TableFile) -> list[pa.ChunkedArray]:
    """Nothing where the file is no table: building it will say why."""
    if file.refused or is_spark(file.path):
        return []
    try:
        with tempfile.TemporaryDirectory() as folder, reasons():
            copy = source_of(file.path).copy(file, Path(folder))
            layout = layout_of(file, copy.path)
            batch = next(iter(read(copy.path, layout)), None)
    except UnreadableTable:
        return []
    shown = [name for name in layout.columns if name not in layout.hashed]
    return pa.Table.from_batches([batch.slice(0, _ROWS)]).select(shown).columns if batch else []
