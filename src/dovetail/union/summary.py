"""What is compared of a column: its name, its values, and how these are distributed and written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.embedders.ngrams import NGrams
from dovetail.evidence.columns import as_numbers, kinds_of
from dovetail.evidence.features import DATE, INTEGER, REAL, TEXT
from dovetail.lake.layout import is_made_up
from dovetail.normalise.hashing import as_buffers, hash_tokens
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import InputTable

NUMBERS = (INTEGER, REAL, DATE)
_SAMPLE = 128  # values whose spelling is compared; arbitrary, the vectors of larger samples hardly differ
_NUMBERS = 1_000  # distinct numbers whose distribution is compared; arbitrary: its error is about 1 in 30
_CLASSES = np.full(256, 3, np.int64)  # of bytes: letters, digits, spaces, others
_CLASSES[[*range(0x41, 0x5B), *range(0x61, 0x7B), *range(0x80, 0x100)]] = 0
_CLASSES[[*range(0x30, 0x3A)]] = 1
_CLASSES[[0x20, 0x09]] = 2
_EMBEDDER = NGrams()


@dataclass(frozen=True)
class ColumnSummary:
    """One column. Distances between two of them say how likely both hold the same attribute."""

    name: str
    folded: str  # the letters and digits of the name, without case
    is_made_up: bool  # whether the file has no name for it
    kind: int
    place: float  # in its table, from 0 to 1
    filled: float  # share of the rows with a value
    unique: float  # distinct values by rows with a value
    length: float  # mean characters of a value
    hashes: Array  # of the distinct values, ascending
    numbers: Array  # some distinct numbers or days, ascending; empty for texts
    shares: Array  # of the rows, up to each of the numbers
    classes: Array  # shares of letters, digits, spaces and other characters
    spelling: Array  # mean n-gram vector of the values, of length 1; zeros for numbers


def summaries(table: InputTable) -> tuple[ColumnSummary, ...]:
    """All columns of a table."""
    kinds = kinds_of([column.type.kind for column in table.columns])
    last = max(len(table.names) - 1, 1)
    spelled = zip(table.columns, kinds.tolist(), strict=True)
    samples = [_sample(column.tokens) if kind == TEXT else None for column, kind in spelled]
    spellings = mean_vectors(samples)
    return tuple(
        _summary(column, kind, place / last, spellings[place])
        for place, (column, kind) in enumerate(zip(table.columns, kinds.tolist(), strict=True))
    )


def _summary(column: InputColumn, kind: int, place: float, spelling: Array) -> ColumnSummary:
    rows = int(column.counts.sum())
    numbers, shares = _distribution(column, kind) if kind in NUMBERS else (np.empty(0), np.empty(0))
    sample = _sample(column.tokens)
    lengths = pc.mean(pc.utf8_length(sample)).as_py() or 0.0
    return ColumnSummary(
        column.name,
        re.sub(r"[\W_]+", "", column.name.casefold()),
        is_made_up(column.name),
        kind,
        place,
        rows / max(column.rows, 1),
        column.size / max(rows, 1),
        float(lengths),
        np.sort(hash_tokens(column.tokens)),
        numbers,
        shares,
        _classes(sample),
        spelling,
    )


def _sample(tokens: pa.Array) -> pa.Array:
    """Values at regular distances."""
    return tokens if len(tokens) <= _SAMPLE else tokens.take(pa.array(_spread(len(tokens), _SAMPLE)))


def _spread(size: int, number: int) -> Array:
    """Some places at regular distances, the first and the last included."""
    found: Array = np.unique(np.linspace(0, size - 1, number).astype(np.int64))
    return found


def _distribution(column: InputColumn, kind: int) -> tuple[Array, Array]:
    """Some values in order, and the share of the rows that have at most each."""
    chosen = _spread(column.size, min(column.size, _NUMBERS)) if column.size else np.empty(0, np.int64)
    tokens, counts = column.tokens.take(pa.array(chosen)), column.counts[chosen]
    if kind == REAL:
        values = pc.cast(tokens, pa.float64()).to_numpy()
    else:
        values = as_numbers(tokens.cast(pa.string()), np.full(len(tokens), kind))
    known = np.isfinite(values)
    values, counts = values[known], counts[known]
    if not len(values):
        return np.empty(0), np.empty(0)
    order = np.argsort(values)
    values, totals = values[order], np.cumsum(counts[order])
    kept = _spread(len(values), _SAMPLE)
    return values[kept], totals[kept] / totals[-1]


def _classes(sample: pa.Array) -> Array:
    content, offsets = as_buffers(sample)
    found = np.bincount(_CLASSES[content[offsets[0] : offsets[-1]]], minlength=4).astype(np.float64)
    total: Array = found / max(found.sum(), 1.0)
    return total


def mean_vectors(samples: Sequence[pa.Array | None]) -> Array:
    """The mean vector of each list of texts, of length 1; zeros for none."""
    texts = [sample for sample in samples if sample is not None]
    found = np.zeros((len(samples), _EMBEDDER.dimension), np.float32)
    if not texts:
        return found
    sparse = _EMBEDDER.embed_sparse(pa.concat_arrays([text.cast(pa.large_string()) for text in texts]))
    owner = np.repeat(np.arange(len(samples)), [0 if sample is None else len(sample) for sample in samples])
    cells = np.repeat(owner, np.diff(sparse.starts)) * _EMBEDDER.dimension + sparse.dimensions
    flat = np.bincount(cells, weights=sparse.weights, minlength=found.size).reshape(found.shape)
    lengths = np.sqrt((flat**2).sum(axis=1))
    found[:] = flat / np.where(lengths > 0, lengths, 1.0)[:, None]
    return found
