"""Questions to an open index about what is in the lake: tables, columns, values, sizes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.api.open_index import OpenIndex
from dovetail.api.tables import Column, ColumnLine, Occurrence, Table, TableLine
from dovetail.indexes.open_segment import OpenSegment, find_table
from dovetail.indexes.statistics import (
    Skipped,
    distinct_values,
    failed_tables,
    known_values,
    statistics_of,
    totals_of,
)
from dovetail.lake.listing import matches
from dovetail.normalise import ColumnType, normalise_value
from dovetail.normalise.keyed import HASHED, hash_key, hashed_values
from dovetail.results import Rows
from dovetail.tables.exploded import list_separator
from dovetail.tables.input_table import lake_table


class LakeCatalog(OpenIndex):
    """What is in the lake."""

    def tables(self, pattern: str = "*") -> Rows[TableLine]:
        """One line for each table whose id matches the glob, sorted by id."""
        lines = []
        for segment in self.segments:
            rows = segment.catalog.tables.select(["table", "rows", "columns", "bytes", "error"]).to_pylist()
            lines += [TableLine(**row) for row, alive in zip(rows, segment.alive, strict=True) if alive]
        return Rows(sorted((line for line in lines if matches(line.table, pattern)), key=lambda line: line.table))

    def table(self, name: str) -> Table:
        """A table of the lake by its id, with its columns and their profiles."""
        segment, number = find_table(self.segments, name, "The index has no table")
        columns = segment.catalog.columns_of(number)
        record = segment.catalog.table(number)
        places = segment.catalog.column_range(number)
        rows = Rows(
            Column(name, column, record.declared.of_column(column.column), list_separator(segment, place))
            for column, place in zip(columns, places, strict=True)
        )
        return Table(record, rows, partial(lake_table, segment, number))

    def find(self, value: str) -> Rows[Occurrence]:
        """Every column that contains the value, which is normalised by each column's own type; most rows first."""
        return Rows(
            sorted(
                (hit for segment in self.segments for hit in _find_in(segment, value)),
                key=lambda hit: (-hit.rows, hit.table, hit.column),
            )
        )

    def find_columns(self, pattern: str) -> Rows[ColumnLine]:
        """Every column whose name matches the glob, whatever the case."""
        found = []
        for segment in self.segments:
            columns = segment.catalog.columns
            for number, name in enumerate(columns["column"].to_pylist()):
                if matches(name.casefold(), pattern.casefold()) and segment.alive[columns["table"][number].as_py()]:
                    row = columns.slice(number, 1).select(["kind", "rows", "nulls", "distinct"]).to_pylist()[0]
                    table = segment.names[columns["table"][number].as_py()]
                    found.append(ColumnLine(table, name, row["kind"], row["rows"], row["nulls"], row["distinct"]))
        return Rows(sorted(found, key=lambda line: (line.table, line.column)))

    def skipped(self) -> list[Skipped]:
        """The files that could not be read as tables, each with the reason."""
        return failed_tables(self._snapshot)

    def info(self) -> dict[str, Any]:
        """What `dovetail info --json` prints: generation, segments, sizes, settings, and totals of the lake."""
        from dovetail.indexes.frozen import frozen_settings

        manifest = self._snapshot.manifest
        values = known_values(manifest) or distinct_values(self._snapshot.segments)
        sizes: dict[str, int] = {}
        for segment in self._snapshot.segments:
            for name, part in segment.parts.items():
                sizes[name] = sizes.get(name, 0) + part["bytes"]
        return {
            "path": self._snapshot.store.address,
            "generation": manifest.generation,
            "segments": len(manifest.segments),
            "dead_tables": sum(len(ref.dead) for ref in manifest.segments),
            **statistics_of(segment.ref.totals or totals_of(segment) for segment in self._snapshot.segments),
            "values": values.number,
            "values_are_exact": values.is_exact,
            "index_bytes": sum(sizes.values()),
            "index_bytes_by_part": sizes,
            "roots": list(manifest.roots),
            "settings": frozen_settings(manifest.frozen),
        }


def _token(value: str, column_type: ColumnType) -> str | None:
    """The token of a value in a column of this type; of a hashed one, if the key is known."""
    if column_type != HASHED:
        return normalise_value(value, column_type)
    key = hash_key()
    token: str | None = hashed_values(pa.array([value]), key)[0].as_py() if key else None
    return token


def _find_in(segment: OpenSegment, value: str) -> Iterator[Occurrence]:
    types = segment.catalog.columns["type"]
    for written in pc.unique(types).to_pylist():
        token = _token(value, ColumnType.from_json(json.loads(written)))
        if token is None:
            continue
        number = int(segment.tokens.find(pa.array([token], pa.large_string()))[0])
        if number < 0:
            continue
        for column in segment.tokens.columns_with(number).tolist():
            row = segment.catalog.columns.slice(column, 1).select(["table", "column", "kind", "type"]).to_pylist()[0]
            if row["type"] == written and segment.alive[row["table"]]:
                rows = segment.tokens.rows_with(number, column)
                yield Occurrence(segment.names[row["table"]], row["column"], row["kind"], rows)
