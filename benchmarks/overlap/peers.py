"""The peers: DuckDB over an inverted index, and SetSimilaritySearch. Their answers are compared with ours."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail.indexes.josie.query import JosieReader

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
    """One connection with all sets in memory, and all cores. A question is asked in the fastest way for its size."""

    def __init__(self, reader: JosieReader) -> None:
        import duckdb

        self._connection = duckdb.connect()
        self._fastest: dict[int, str] = {}
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

    def milliseconds(self, tokens: pa.Array, overlaps: list[int], repeat: int = 3) -> float:
        """The least of the repetitions. The first query of a size is asked in every way, to know the fastest."""
        self._connection.register("asked", pa.table({"token": tokens}))
        if len(tokens) not in self._fastest:
            ways = [name for name in _FORMULATIONS if name != "indexed" or len(tokens) <= _MOST_INLINE]
            times = {name: min(self._ask(name, tokens, overlaps) for _ in range(repeat)) for name in ways}
            self._fastest[len(tokens)] = min(times, key=lambda name: times[name])
        fastest = self._fastest[len(tokens)]
        found = min(self._ask(fastest, tokens, overlaps) for _ in range(repeat))
        self._connection.unregister("asked")
        return found

    def _ask(self, name: str, tokens: pa.Array, overlaps: list[int]) -> float:
        values = ", ".join("'" + value.replace("'", "''") + "'" for value in tokens.to_pylist())
        text = _FORMULATIONS[name].format(k=len(overlaps), values=f"({values})" if name == "indexed" else "")
        start = time.perf_counter()
        rows = self._run(text)
        seconds = time.perf_counter() - start
        if [count for _, count in rows] != overlaps:
            raise AssertionError(f"DuckDB answers differently: {len(tokens)} values, k = {len(overlaps)}")
        return seconds * 1000

    def _run(self, query: str) -> list[Any]:
        rows: list[Any] = self._connection.execute(query).fetchall()
        return rows


class SetSimilaritySearch:
    """Sets of strings, as a user has them. Given the k-th containment as its threshold, which no user knows."""

    def __init__(self, reader: JosieReader) -> None:
        from SetSimilaritySearch import SearchIndex

        texts = np.array(reader.tokens.tokens(np.arange(reader.tokens.arrays.tokens)).to_pylist(), object)
        sets = [texts[reader.tokens.set_of(column)[0]].tolist() for column in range(reader.tokens.arrays.columns)]
        # For containment whole sets are indexed, so that the threshold may be set anew for each query.
        self._index = SearchIndex(sets, similarity_func_name="containment", similarity_threshold=0.5)

    def milliseconds(self, tokens: pa.Array, overlaps: list[int]) -> float:
        values = tokens.to_pylist()
        self._index.similarity_threshold = overlaps[-1] / len(values)
        start = time.perf_counter()
        rows = self._index.query(values)
        seconds = time.perf_counter() - start
        found = sorted((round(share * len(values)) for _, share in rows), reverse=True)
        if found[: len(overlaps)] != overlaps:
            raise AssertionError(f"SetSimilaritySearch answers differently: {len(values)} values, k = {len(overlaps)}")
        return seconds * 1000
