"""The keys of a join: every method gives each row of both tables a key, and rows with the same key join.

That holds for methods that compare values too: a value joins at most one key of the other table, whose number it
takes. So one executor makes the rows of every join (execute.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail._deadline import Deadline
from dovetail._types import Array
from dovetail.catalog.profile import count_values
from dovetail.join.best_predicate.kernels import rows_by_code
from dovetail.join.kernels import matches
from dovetail.normalise import decide, normalise
from dovetail.similar.matching import FindBest, Similar, similar_pairs
from dovetail.tables.column_names import Pair
from dovetail.tables.input_column import InputColumn
from dovetail.tables.input_table import InputTable
from dovetail.transform.program import made_by
from dovetail.transform.transformation import Transformation

ORIGINS = ("equal", "transformed", "similar", "through", "decided")
"""Why two rows join."""
EQUAL, TRANSFORMED, SIMILAR, THROUGH, DECIDED = range(len(ORIGINS))


@dataclass(frozen=True)
class JoinKeys:
    """The key of each row as a number; rows with the same number join, -1 joins nothing.

    `origin`, `similarity` and `probability` are of the rows of the `source` (0: the left table, 1: the right one).
    """

    left: Array
    right: Array
    size: int
    source: int = 0
    origin: Array | None = None  # of each row of the source, a position in ORIGINS; None: all are equal
    similarity: Array | None = None  # of each row of the source; None: all are 1
    probability: Array | None = None  # that a row of the source has the right key; None: nothing speaks against it

    @property
    def of_source(self) -> Array:
        return self.right if self.source else self.left

    @property
    def of_target(self) -> Array:
        return self.left if self.source else self.right

    def with_source(self, codes: Array, origin: Array, similarity: Array, probability: Array) -> JoinKeys:
        """The same with other keys for the source's rows."""
        left, right = (self.left, codes) if self.source else (codes, self.right)
        return replace(self, left=left, right=right, origin=origin, similarity=similarity, probability=probability)


@dataclass(frozen=True)
class TextRows:
    """The distinct texts of some rows, and which one each row has; -1 for none."""

    texts: list[str]
    codes: Array
    blocks: Array | None = None  # of each text: only texts of the same block are compared

    @classmethod
    def of_column(cls, column: InputColumn) -> TextRows:
        return cls(column.written.to_pylist(), column.codes())

    @classmethod
    def of_rows(cls, rows: Sequence[str | None], blocks: Array | None = None) -> TextRows:
        """Rows without a text, or without a block where there are blocks, have none."""
        codes = np.full(len(rows), -1, np.int64)
        numbers: dict[tuple[str, int], int] = {}
        for row, text in enumerate(rows):
            block = 0 if blocks is None else int(blocks[row])
            if text and block >= 0:
                codes[row] = numbers.setdefault((text, block), len(numbers))
        of_text = None if blocks is None else np.array([block for _, block in numbers], np.int64)
        return cls([text for text, _ in numbers], codes, of_text)

    def sampled(self, most: int) -> TextRows:
        """With some of the texts; rows with others have none."""
        drawn = self.draw(most)
        codes = np.full(len(self.texts) + 1, -1, np.int64)
        codes[drawn] = np.arange(len(drawn))
        blocks = None if self.blocks is None else self.blocks[drawn]
        return TextRows([self.texts[place] for place in drawn.tolist()], codes[self.codes], blocks)

    def draw(self, most: int) -> Array:
        """The positions of the texts of the sample."""
        size = len(self.texts)
        if size <= most:
            return np.arange(size)
        return np.sort(np.random.default_rng(size).choice(size, most, replace=False))


def no_keys(left: InputTable, right: InputTable) -> JoinKeys:
    return JoinKeys(np.full(left.rows, -1, np.int64), np.full(right.rows, -1, np.int64), 0)


def equal_keys(left: InputTable, right: InputTable, on: Sequence[Pair]) -> JoinKeys:
    """Equal tokens in every pair of columns."""
    mine, theirs, size = _common_codes(left.column(on[0][0]), right.column(on[0][1]))
    for pair in on[1:]:
        others = _common_codes(left.column(pair[0]), right.column(pair[1]))
        both, other = (np.concatenate(sides).astype(np.int64) for sides in ((mine, theirs), others[:2]))
        encoded = pa.array(both * others[2] + other, mask=(both < 0) | (other < 0)).dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy()
        mine, theirs, size = codes[: len(mine)], codes[len(mine) :], len(encoded.dictionary)
    return JoinKeys(mine, theirs, size)


def mapped_keys(left: InputTable, right: InputTable, pair: Pair, mapping: Mapping[str, tuple[str, float]]) -> JoinKeys:
    """Each token of the left column joins only the token that it is mapped to, with the similarity of the two."""
    mine, theirs = left.column(pair[0]), right.column(pair[1])
    found = [mapping.get(token) for token in mine.tokens.to_pylist()]
    tokens = pa.array([None if each is None else each[0] for each in found], pa.large_string())
    equal = np.append(pc.equal(tokens, mine.tokens).fill_null(False).to_numpy(zero_copy_only=False), False)
    similarity = np.array([0.0 if each is None else each[1] for each in found] + [0.0])
    codes = mine.codes()
    keys = _numbered(tokens, codes, theirs.tokens, theirs.codes())
    return JoinKeys(*keys, 0, np.where(equal, EQUAL, SIMILAR).astype(np.int8)[codes], similarity[codes])


def transformed_keys(left: InputTable, right: InputTable, way: Transformation) -> JoinKeys:
    """The values that the programs make from one table, and the key column of the other, normalised by its type."""
    source, target = (right, left) if way.reversed else (left, right)
    for name in way.columns:
        source.column(name)  # raises where there is none
    column_type = target.column(way.target).type
    wanted = pa.array(target.values(way.target), pa.string())
    if way.key is not None:
        wanted = pa.array(way.key.apply({way.target: wanted.to_pylist()}), pa.string())
        column_type = decide(count_values(pa.chunked_array([wanted])).evidence)

    def tokens(values: pa.Array) -> pa.Array:
        return normalise(values, column_type).cast(pa.large_string())

    keys = tokens(wanted)
    made = made_by(way.programs, {name: source.values(name) for name in way.columns}, tokens, keys)
    mine, theirs, size = _numbered(made, np.arange(len(made)), keys, np.arange(len(keys)))
    origin = np.full(source.rows, EQUAL if way.is_identity else TRANSFORMED, np.int8)
    left_keys, right_keys = (theirs, mine) if way.reversed else (mine, theirs)
    return JoinKeys(left_keys, right_keys, size, int(way.reversed), origin)


def similar_keys(
    values: TextRows,
    keys: TextRows,
    source: int,
    min_similarity: float | None = None,
    one_to_one: bool = False,
    deadline: Deadline | None = None,
    find_best: FindBest | None = None,
) -> JoinKeys:
    """Each value of the source joins its nearest key of the target, if it is near enough (similar/matching.py).

    Raises OutOfTime at the deadline.
    """
    blocks = None if values.blocks is None or keys.blocks is None else (values.blocks, keys.blocks)
    found = similar_pairs(values.texts, keys.texts, (), blocks, min_similarity, one_to_one, deadline, find_best)
    return keys_of_pairs(values, keys, source, found)


def keys_of_pairs(values: TextRows, keys: TextRows, source: int, found: Similar) -> JoinKeys:
    """Each value of the source takes the number of the key that it was found to mean."""
    key_of = np.full(len(values.texts) + 1, -1, np.int64)
    similarity, probability = np.zeros(len(values.texts) + 1), np.zeros(len(values.texts) + 1)
    key_of[found.values], similarity[found.values] = found.keys, found.similarity
    probability[found.values] = found.probability
    same = np.array([values.texts[v] == keys.texts[k] for v, k in zip(found.values, found.keys, strict=True)], bool)
    equal = np.zeros(len(values.texts) + 1, bool)
    equal[found.values[same]] = True
    similarity[equal] = probability[equal] = 1.0
    codes = key_of[values.codes]
    origin = np.where(equal[values.codes], EQUAL, SIMILAR).astype(np.int8)
    left, right = (keys.codes, codes) if source else (codes, keys.codes)
    return JoinKeys(left, right, len(keys.texts), source, origin, similarity[values.codes], probability[values.codes])


def sampled_similar_keys(
    values: TextRows, keys: TextRows, source: int, most: tuple[int, int], deadline: Deadline
) -> tuple[JoinKeys, float]:
    """Some values of the source with the keys that they have among some of the target's, and the share of all pairs."""
    few = values.sampled(most[0]), keys.sampled(most[1])
    found = similar_keys(*few, source, deadline=deadline)
    codes = np.append(keys.draw(most[1]), -1)[found.of_source]
    left, right = (keys.codes, codes) if source else (codes, keys.codes)
    share = len(few[0].texts) * len(few[1].texts) / max(1, len(values.texts) * len(keys.texts))
    return replace(found, left=left, right=right, size=len(keys.texts)), share


def with_similar(
    before: JoinKeys, values: Sequence[str | None], keys: Sequence[str | None], deadline: Deadline
) -> JoinKeys:
    """Rows of the source without a key join the nearest one; `values` and `keys` are the texts of all rows.

    If no key was joined by several values before, none is now, as long as there are enough free keys. Raises OutOfTime
    at the deadline.
    """
    of_target = before.of_target
    present, first = np.unique(of_target, return_index=True)
    first, present = first[present >= 0], present[present >= 0]
    texts = [keys[row] or "" for row in first.tolist()]
    joined = np.isin(before.of_source, present)
    waiting = TextRows.of_rows([None if done else text for text, done in zip(values, joined.tolist(), strict=True)])
    used = np.searchsorted(present, before.of_source[joined])
    free = len(present) - len(np.unique(used))
    one_to_one = len(np.unique(used)) == len(used) and len(waiting.texts) <= free
    found = similar_pairs(waiting.texts, texts, np.unique(used).tolist(), one_to_one=one_to_one, deadline=deadline)
    key_of = np.full(len(waiting.texts) + 1, -1, np.int64)
    similarity, probability = np.ones(len(waiting.texts) + 1), np.ones(len(waiting.texts) + 1)
    key_of[found.values], similarity[found.values] = present[found.keys], found.similarity
    probability[found.values] = found.probability
    codes = np.where(joined, before.of_source, key_of[waiting.codes])
    assert before.origin is not None
    origin = np.where(joined, before.origin, SIMILAR).astype(np.int8)
    scores = (np.where(joined, 1.0, of_text[waiting.codes]) for of_text in (similarity, probability))
    return before.with_source(codes, origin, *scores)


def repeats_rows(keys: JoinKeys) -> bool:
    """Whether a row of the left table has several partners."""
    partners = np.bincount(keys.right[keys.right >= 0], minlength=keys.size)
    return bool((partners[keys.left[keys.left >= 0]] > 1).any())


def joined_rows(keys: JoinKeys) -> tuple[Array, Array]:
    """The pairs of rows with the same key, by left row and then by right row."""
    counts = [np.bincount(codes[codes >= 0], minlength=keys.size) for codes in (keys.left, keys.right)]
    starts = np.concatenate([[0], np.cumsum(counts[1])])
    return matches(keys.left, starts, rows_by_code(keys.right, keys.size), int(counts[0] @ counts[1]))


def _common_codes(left: InputColumn, right: InputColumn) -> tuple[Array, Array, int]:
    return _numbered(left.tokens, left.codes(), right.tokens, right.codes())


def _numbered(mine: pa.Array, my_rows: Array, theirs: pa.Array, their_rows: Array) -> tuple[Array, Array, int]:
    """Rows as numbers that mean the same token on both sides; -1 for null. Rows are positions among the tokens."""
    both = pa.chunked_array([mine, theirs], pa.large_string()).combine_chunks().dictionary_encode()
    numbers = np.append(both.indices.fill_null(-1).to_numpy(), -1)  # the last place is for null, whose code is -1
    left = np.append(numbers[: len(mine)], -1)[my_rows]
    return left, numbers[len(mine) :][their_rows], len(both.dictionary)
