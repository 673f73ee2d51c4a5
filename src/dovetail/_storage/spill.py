"""Arrays set aside while an index is built: each record is some arrays of any lengths, read back by number.

A record is a batch of one row in an Arrow file, its arrays being lists, so that reading maps memory and copies nothing.
Of a file that is not of this machine, only the records that are asked for are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa


def write_records(path: Path, types: dict[str, pa.DataType], records: Iterable[Iterable[Any]]) -> None:
    """Write records whose arrays have these names and types."""
    schema = pa.schema([(name, pa.large_list(type_)) for name, type_ in types.items()])
    with pa.ipc.new_file(path, schema) as file:
        for record in records:
            lists = [_as_list(array, type_) for array, type_ in zip(record, types.values(), strict=True)]
            file.write_batch(pa.RecordBatch.from_arrays(lists, schema=schema))


class Records:
    """The records of a file that was written: one of this machine, or an open one that can be read in places."""

    def __init__(self, file: Path | BinaryIO) -> None:
        self._file = pa.ipc.open_file(pa.memory_map(str(file)) if isinstance(file, Path) else pa.PythonFile(file))

    @property
    def names(self) -> list[str]:
        """Of a record's arrays."""
        names: list[str] = self._file.schema.names
        return names

    def __len__(self) -> int:
        return int(self._file.num_record_batches)

    def __getitem__(self, number: int) -> list[pa.Array]:
        return [column.flatten() for column in self._file.get_batch(number).columns]


def _as_list(array: Any, type_: pa.DataType) -> pa.Array:
    values = array if isinstance(array, pa.Array) else pa.array(array, type_)
    return pa.LargeListArray.from_arrays(pa.array(np.array([0, len(values)]), pa.int64()), values)
