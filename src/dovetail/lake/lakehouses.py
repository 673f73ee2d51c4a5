"""The files of Delta Lake and Iceberg tables at their current snapshot; what would be read wrongly is refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlparse

import pyarrow as pa

from dovetail.errors import InputError, UnreadableTable
from dovetail.lake.layout import DataFile
from dovetail.lake.streams import first_line

_READER_FEATURES = {"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck", "typeWidening"}
"""Of Delta Lake, those that leave the files of a table plain Parquet that anybody reads alike."""
_PARTITION = "partition."


def delta_files(address: str) -> list[DataFile]:
    deltalake = _library("deltalake")
    with _broken("Delta table", deltalake.exceptions.DeltaError):
        table = deltalake.DeltaTable(address.rstrip("/"), storage_options=_storage_options())
        protocol, about = table.protocol(), table.metadata()
        features = set(protocol.reader_features or ()) - _READER_FEATURES
        mapped = about.configuration.get("delta.columnMapping.mode", "none") != "none"
        if features or mapped:
            named = ", ".join(sorted(features)) or "columnMapping"
            raise UnreadableTable(f"Delta table that uses {named}, which only Delta's own readers follow")
        actions = pa.table(table.get_add_actions(flatten=True))
    names = [name for name in actions.column_names if name.startswith(_PARTITION)]
    return sorted(
        (
            DataFile(
                f"{address.rstrip('/')}/{unquote(action['path'])}",
                action["size_bytes"],
                f"{about.id}-{action['path']}",
                tuple((name.removeprefix(_PARTITION), _text(action[name])) for name in names),
                is_final=True,
            )
            for action in actions.to_pylist()
        ),
        key=lambda file: file.path,
    )


def iceberg_files(metadata: str) -> list[DataFile]:
    """By the newest metadata of a table that lies in a folder, without a catalog."""
    exceptions = _library("pyiceberg.exceptions")
    with _broken("Iceberg table", exceptions.PyIcebergError if hasattr(exceptions, "PyIcebergError") else ValueError):
        table = _library("pyiceberg.table").StaticTable.from_metadata(metadata, _iceberg_properties())
        found = list(table.scan().plan_files())
    if any(task.delete_files for task in found):
        raise UnreadableTable("Iceberg table with delete files, which only Iceberg's own readers follow")
    files = [
        DataFile(_local(file.file_path), file.file_size_in_bytes, file.file_path, is_final=True)
        for file in (task.file for task in found)
    ]
    return sorted(files, key=lambda file: file.path)


def _local(address: str) -> str:
    parsed = urlparse(address)
    return unquote(parsed.path) if parsed.scheme == "file" else address


def _text(value: Any) -> str | None:
    return value.isoformat() if hasattr(value, "isoformat") else None if value is None else str(value)


def _storage_options() -> dict[str, str]:
    """Loopback servers speak no TLS; all else the library takes from the environment."""
    return {"allow_http": "true"} if os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://") else {}


def _iceberg_properties() -> dict[str, str]:
    """What the library does not take from the environment by itself."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    return {"s3.endpoint": endpoint} if endpoint else {}


def _library(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(
            f"This table needs the package {name.partition('.')[0]}. Run `pip install 'dovetail-lake[files]'`."
        ) from error


@contextmanager
def _broken(what: str, *types: type[Exception]) -> Iterator[None]:
    try:
        yield
    except types as error:
        raise UnreadableTable(f"broken {what}: {first_line(error)}") from error
