"""The peers: DuckDB over an inverted index, and SetSimilaritySearch."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail.indexes.josie import JosieReader

# Rows (token, column) sorted by token; one row a token with the list of its columns; the same with an ART index.
_FORMULATIONS = {
    "pairs": "select col, count(*) as n from pairs join asked using (token) group by col order by n desc limit {k}",
    "lists": "select unnest(cols) as col, count(*) as n from lists join asked using (token) "
    "group by col order by n desc limit {k}",
    "indexed": "select unnest(cols) as col, count(*) as n from indexed where token in {values} "
    "group by col order by n desc limit {k}",
}
_MOST_INLINE = 1000  # beyond, the statement itself becomes the cost


class DuckDB:
    """One connection with the whole lake in memory. Every question is asked in each way; the fastest counts."""

    def __init__(self, reader: JosieReader) -> None:
        import duckdb

        self._connection = duckdb.connect()
        arrays = reader.tokens.arrays
        group_of = np.repeat(np.arange(arrays.groups), np.diff(arrays.group_tokens))
        lengths = np.diff(arrays.posting_offsets)[group_of]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(arrays.posting_offsets[group_of] - offsets[:-1], lengths) + np.arange(offsets[-1])
        columns = pa.array(arrays.posting_columns[places])
        tokens = reader.tokens.tokens(np.arange(arrays.tokens))
        source = pa.table({"token": tokens, "cols": pa.LargeListArray.from_arrays(offsets, columns)})
        self._connection.register("source", source)
        self._run("create table lists as select * from source order by token")
        self._run("create table pairs as select token, unnest(cols) as col from lists order by token, col")
        self._run("create table indexed as select * from lists")
        self._run("create index by_token on indexed (token)")
        self._connection.unregister("source")

    def milliseconds(self, tokens: pa.Array, k: int, repeat: int) -> float:
        """Of the fastest way, the least of its repetitions."""
        values = tokens.to_pylist()
        self._connection.register("asked", pa.table({"token": tokens}))
        times = []
        for name, query in _FORMULATIONS.items():
            if name == "indexed" and len(values) > _MOST_INLINE:
                continue
            inline = "(" + ", ".join("'" + value.replace("'", "''") + "'" for value in values) + ")"
            text = query.format(k=k, values=inline)
            for _ in range(repeat):
                start = time.perf_counter()
                self._run(text)
                times.append((time.perf_counter() - start) * 1000)
        self._connection.unregister("asked")
        return min(times)

    def _run(self, query: str) -> list[Any]:
        rows: list[Any] = self._connection.execute(query).fetchall()
        return rows


class SetSimilaritySearch:
    """Given the k-th containment as its threshold, which no user knows beforehand."""

    def __init__(self, reader: JosieReader) -> None:
        from SetSimilaritySearch import SearchIndex

        sets = [reader.tokens.set_of(column)[0].tolist() for column in range(reader.tokens.arrays.columns)]
        self._reader = reader
        self._index = SearchIndex(sets, similarity_func_name="containment", similarity_threshold=0.5)

    def milliseconds(self, tokens: pa.Array, kth: int) -> float:
        """It is asked with token ids, which spares it the strings."""
        ids = self._reader.tokens.find(tokens)
        ids = np.where(ids >= 0, ids, -1 - np.arange(len(ids))).tolist()
        self._index.similarity_threshold = kth / len(ids)
        start = time.perf_counter()
        self._index.query(ids)
        return (time.perf_counter() - start) * 1000
