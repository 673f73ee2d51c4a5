"""LSH Ensemble: estimates against truth, optimisations against plain search, answers against brute force."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, pairwise
from math import comb
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail._storage.segment import Segment, SegmentWriter
from dovetail.errors import FormatMismatch, IndexDamaged, InputError
from dovetail.indexes.lsh_ensemble.build import LshEnsembleBuilder, partition, plant
from dovetail.indexes.lsh_ensemble.core import Sketch, SketchParameters, as_ratio, functions, least_overlap
from dovetail.indexes.lsh_ensemble.index import LSH_ENSEMBLE
from dovetail.indexes.lsh_ensemble.kernels import (
    _agrees,
    candidates_in,
    cut_sizes,
    least_equal,
    mark_candidates,
    sketch_hashes,
    tune,
)
from dovetail.indexes.lsh_ensemble.query import RECALL, LshEnsembleReader, tuning
from dovetail.indexes.lsh_ensemble.set_kernels import (
    answer_by_postings,
    find_prefix,
    overlap_from,
    sum_after,
    verify_columns,
)
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.tokens.format import running_sum
from dovetail.indexes.tokens.index import TOKENS
from dovetail.normalise.hashing import hash_tokens

PLENTY = 1 << 30
THRESHOLDS = [Fraction(tenths, 10) for tenths in range(1, 11)]


def build(
    folder: Path, columns: Sequence[Sequence[str]], memory_bytes: int = PLENTY, permutations: int = 128
) -> Segment:
    writer = SegmentWriter(folder)
    scratch = folder / f"scratch-{writer.id}"
    scratch.mkdir()
    builders = (
        TOKENS.builder(scratch, PLENTY),
        LshEnsembleBuilder(memory_bytes, SketchParameters(permutations=permutations)),
    )
    for number, values in enumerate(columns):
        tokens = pa.array(sorted(set(values)), pa.large_string())
        for builder in builders:
            builder.add(ColumnChunk(number, tokens, np.ones(len(tokens), np.int64)))
    counts = {"tables": 0}
    for builder in builders:
        counts |= builder.finish(writer, [1] * len(columns))
    return Segment(folder, writer.finish(counts))


def skewed_lake(rng: np.random.Generator, columns: int, largest: int) -> list[set[str]]:
    """Sets of power-law sizes from a few domains; frequent values are in most sets of their domain."""
    lake = []
    for _ in range(columns):
        size = int(min(largest, 5 * (1 - rng.random()) ** -0.9))
        domain = rng.integers(8)
        values = np.unique((rng.random(3 * size) ** 2 * 4 * max(size, 400)).astype(np.int64))
        lake.append({f"{domain}:{value}" for value in rng.permutation(values)[:size]})
    return lake


def truth(lake: Sequence[set[str]], query: set[str], threshold: Fraction) -> dict[int, int]:
    overlaps = {number: len(query & values) for number, values in enumerate(lake)}
    return {n: o for n, o in overlaps.items() if o * threshold.denominator >= threshold.numerator * len(query)}


def answers(reader: LshEnsembleReader, query: set[str], threshold: Fraction, **options: object) -> dict[int, int]:
    found = reader.search(pa.array(sorted(query)), threshold, **options)
    assert np.all(np.diff(found.columns.astype(np.int64)) > 0)
    return dict(zip(found.columns.tolist(), found.overlaps.tolist(), strict=True))


@pytest.fixture(scope="module")
def lake() -> list[set[str]]:
    return skewed_lake(np.random.default_rng(1), 1500, 20_000)


@pytest.fixture(scope="module")
def segment(lake, tmp_path_factory) -> Segment:
    return build(tmp_path_factory.mktemp("lake"), [sorted(values) for values in lake])


@pytest.fixture
def reader(segment) -> LshEnsembleReader:
    return LshEnsembleReader(segment)


@pytest.fixture(scope="module")
def queries(lake) -> list[set[str]]:
    """Of all sizes, tiny ones too; some with values that no column holds, or of two columns."""
    rng = np.random.default_rng(2)
    by_size = sorted(lake, key=len)
    found = [set(by_size[place]) for place in np.linspace(0, len(lake) - 1, 30).astype(int)]
    for values in by_size[-60:]:
        some = rng.permutation(sorted(values))
        found += [set(some[: rng.integers(1, 12)].tolist()), set(some[: len(some) // 3].tolist())]
    return found + [values | {f"unknown {i}" for i in range(len(values) // 4)} for values in found[::5]]


class TestSketches:
    @pytest.mark.parametrize("permutations", [64, 128, 256])
    def test_estimate_is_near_the_truth(self, permutations):
        rng = np.random.default_rng(3)
        parameters = SketchParameters(permutations=permutations)
        errors = []
        for size, jaccard in [(200, 0.1), (200, 0.5), (2000, 0.3), (2000, 0.9), (50_000, 0.05), (50_000, 0.7)]:
            for _ in range(30):
                common = round(2 * size * jaccard / (1 + jaccard))
                hashes = rng.integers(0, 1 << 63, 2 * size - common, dtype=np.uint64)
                one, other = hashes[:size], hashes[size - common :]
                actual = common / len(hashes)
                estimate = Sketch.of(parameters, one).jaccard(Sketch.of(parameters, other))
                errors.append((estimate - actual) / np.sqrt(actual * (1 - actual) / permutations))
        assert abs(np.mean(errors)) < 0.3
        assert 0.8 < np.std(errors) < 1.2

    def test_estimate_over_tokens_that_look_alike(self):
        parameters = SketchParameters()
        numbers = pa.array([str(i) for i in range(30_000)])
        one, other = hash_tokens(numbers[:20_000]), hash_tokens(numbers[10_000:])
        assert Sketch.of(parameters, one).jaccard(Sketch.of(parameters, other)) == pytest.approx(1 / 3, abs=0.13)
        apart = Sketch.of(parameters, hash_tokens(numbers[20_000:]))
        assert Sketch.of(parameters, hash_tokens(numbers[:10_000])).jaccard(apart) < 0.03

    def test_kernel_equals_its_plain_form(self):
        hashes = np.random.default_rng(4).integers(0, 1 << 63, 20, dtype=np.uint64)
        with np.errstate(over="ignore"):
            plain = sketch_hashes.py_func(hashes, *functions(SketchParameters(permutations=64)))
        assert np.array_equal(plain, sketch_hashes(hashes, *functions(SketchParameters(permutations=64))))

    def test_other_parameters_are_refused(self):
        hashes = np.arange(10, dtype=np.uint64)
        one = Sketch.of(SketchParameters(), hashes)
        for other in (SketchParameters(permutations=64), SketchParameters(seed=7)):
            with pytest.raises(FormatMismatch, match="cannot be compared"):
                one.jaccard(Sketch.of(other, hashes))

    def test_a_pack_of_another_family_is_refused_by_name(self, segment, monkeypatch):
        other = SketchParameters(family=2).to_array()
        monkeypatch.setitem(segment.pack("lsh_ensemble")._arrays, "parameters", other)
        with pytest.raises(FormatMismatch, match="family 2"):
            LshEnsembleReader(segment)


class TestPartitions:
    @staticmethod
    def cost(sizes: Sequence[int], counts: Sequence[int], cuts: Sequence[int]) -> Fraction:
        return sum(
            (
                Fraction(counts[i]) * (1 - Fraction(sizes[i], sizes[end - 1]))
                for begin, end in pairwise(cuts)
                for i in range(begin, end)
            ),
            Fraction(0),
        )

    @classmethod
    def least_cost(cls, sizes: Sequence[int], counts: Sequence[int], parts: int) -> Fraction:
        """The plain dynamic program, in fractions."""
        n = len(sizes)
        run = {(b, e): cls.cost(sizes, counts, [b, e]) for b in range(n) for e in range(b + 1, n + 1)}
        best = {0: Fraction(0)}
        for _ in range(parts):
            best = {e: min(best[b] + run[b, e] for b in best if b < e) for e in range(1, n + 1) if min(best) < e}
        return best[n]

    @settings(max_examples=60)
    @given(
        counts=st.dictionaries(st.integers(1, 10_000), st.integers(1, 1000), min_size=1, max_size=25),
        parts=st.integers(1, 8),
    )
    def test_cuts_are_optimal(self, counts, parts):
        sizes = sorted(counts)
        held = [counts[size] for size in sizes]
        cuts = cut_sizes(np.array(sizes), np.array(held), parts).tolist()
        assert cuts[0] == 0 and cuts[-1] == len(sizes) and all(np.diff(cuts) > 0)
        assert len(cuts) - 1 == min(parts, len(sizes))
        least = self.least_cost(sizes, held, min(parts, len(sizes)))
        assert float(self.cost(sizes, held, cuts)) == pytest.approx(float(least), rel=1e-12, abs=1e-9)

    def test_every_large_column_is_in_the_partition_of_its_size(self):
        sizes = np.array([5, 128, 127, 4000, 0, 130, 9999, 128, *range(200, 300)])
        parts = partition(sizes, 128)
        assert sorted(np.concatenate(parts).tolist()) == np.flatnonzero(sizes >= 128).tolist()
        bounds = [(sizes[part].min(), sizes[part].max()) for part in parts]
        assert all(one[1] < other[0] for one, other in pairwise(bounds))
        assert partition(np.array([3, 4]), 128) == []

    @pytest.mark.parametrize("threshold", [0.1, 0.5, 0.9, 1.0])
    @pytest.mark.parametrize("ratio", [0.3, 1.0, 3.0, 20.0])
    def test_tuning_is_the_best_that_reaches_the_recall(self, threshold, ratio):
        if ratio < threshold:
            return
        points = (np.arange(4000) + 0.5) / 4000
        best = (np.inf, 0, 0)
        for rows in range(1, 9):
            for bands in range(1, 128 // rows + 1):

                def found(t: np.ndarray, rows: int = rows, bands: int = bands) -> np.ndarray:
                    return 1 - (1 - (t / (ratio + 1 - t)) ** rows) ** bands

                top = min(1.0, ratio)
                wrong = np.mean(found(points * threshold)) * threshold
                missed = np.mean(1 - found(threshold + points * (top - threshold))) * (top - threshold)
                if found(np.array(threshold)) >= 0.95:
                    best = min(best, (wrong + missed, bands, rows))
        bands, rows = tune(threshold, ratio, 128, 8, 0.95)
        assert (bands, rows) == tune.py_func(threshold, ratio, 128, 8, 0.95)
        if best[0] < np.inf:
            similarity = threshold / (ratio + 1 - threshold)
            assert 1 - (1 - similarity**rows) ** bands >= 0.95
            assert abs(bands - best[1]) <= 2 and rows == best[2]
        else:
            assert (bands, rows) == (0, 0)

    def test_no_tuning_reaches_tiny_queries_in_huge_columns(self):
        assert tuning(100_000, 1.0, 100, 128, 8, 0.95).bands == 0


class TestTrees:
    @settings(max_examples=40)
    @given(st.data())
    def test_candidates_equal_a_comparison_of_all_bands(self, data):
        seed, members, values = (data.draw(st.integers(1, most)) for most in (10_000, 40, 6))
        rng = np.random.default_rng(seed)
        signatures = rng.integers(0, values, (64, members)).astype(np.uint32)
        sketch = rng.integers(0, values, 64).astype(np.uint32)
        trees = plant(signatures, 8)
        for rows in range(1, 9):
            bands = data.draw(st.integers(1, 64 // rows))
            seen = np.zeros(members, np.uint8)
            matched = mark_candidates(sketch, signatures, trees, bands, rows, seen)
            equal = (signatures == sketch[:, None])[: bands * rows].reshape(bands, rows, members).all(axis=1)
            assert matched == equal.sum()
            assert np.array_equal(seen.astype(bool), equal.any(axis=0))

    def test_trees_are_in_the_order_of_their_bands(self):
        signatures = np.random.default_rng(5).integers(0, 3, (64, 200)).astype(np.uint32)
        for k, tree in enumerate(plant(signatures, 8)):
            keys = [(*signatures[k : k + 8, member].tolist(), member) for member in tree]
            assert keys == sorted(keys)


class TestWholeSketches:
    @pytest.mark.parametrize("permutations", [64, 128, 256])
    def test_hardly_any_set_at_the_threshold_is_lost(self, permutations):
        """By the binomial distribution, summed up exactly: one in a hundred, and 0.96 of 0.99 are 0.95."""
        assert RECALL * 0.99 >= 0.95
        for similarity in np.linspace(0.001, 1.0, 400):
            least = least_equal(similarity, permutations)
            assert least <= permutations
            lost = sum(
                comb(permutations, equal) * similarity**equal * (1 - similarity) ** (permutations - equal)
                for equal in range(max(least, 0))
            )
            assert lost <= 0.01, similarity

    @settings(max_examples=50)
    @given(seed=st.integers(0, 1 << 32), bands=st.integers(1, 8), rows=st.integers(1, 8), need=st.integers(1, 60))
    def test_candidates_meet_in_a_band_and_agree_as_a_whole(self, seed, bands, rows, need):
        """Sketches that agree in a share of their values, which is another one for each column."""
        rng = np.random.default_rng(seed)
        width, asked = 64, 60
        sketch = rng.integers(0, 1 << 32, width, dtype=np.uint32)
        sizes = rng.integers(30, 200, 40)
        signatures = np.where(
            rng.random((width, 40)) < rng.random(40), sketch[:, None], rng.integers(0, 9, (width, 40))
        )
        signatures = signatures.astype(np.uint32)
        layout = (np.array([0, 40]), np.arange(40, dtype=np.uint32), signatures.ravel(), plant(signatures, 8).ravel())
        equal = signatures == sketch[:, None]
        expected = [
            column
            for column in range(40)
            if sizes[column] >= need
            and any(np.all(equal[band * rows : (band + 1) * rows, column]) for band in range(bands))
            and np.sum(equal[:, column]) >= least_equal(need / (asked + sizes[column] - need), width)
        ]
        options = (np.zeros(1, np.int64), np.array([bands]), np.array([rows]), sketch, layout, running_sum(sizes))
        found, _ = candidates_in(*options, asked, need, np.empty(0, np.bool_))
        assert found.tolist() == expected

    @given(values=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1), least=st.integers(-3, 120))
    def test_agreement_is_counted(self, values, least):
        one, other = (np.array(side, np.uint32) for side in zip(*values, strict=True))
        signatures = np.stack([other, one], 1)
        for kernel in (_agrees, _agrees.py_func):
            assert kernel(signatures, 1, other, least) == (np.sum(one == other) >= least)


class TestOverlap:
    @given(lengths=st.lists(st.tuples(st.integers(1, 4), st.integers(1, 5)), min_size=1), data=st.data())
    def test_prefix_is_the_shortest_that_leaves_too_few(self, lengths, data):
        """Of (tokens, postings) of each group: what follows the prefix has less than `need` tokens, and no sooner."""
        tokens, postings = zip(*lengths, strict=True)
        need = data.draw(st.integers(1, sum(tokens)))
        groups, offsets = np.arange(len(tokens)), np.cumsum([0, *postings])
        prefix = next(n for n in range(len(tokens) + 1) if sum(tokens[n:]) < need)
        assert sum_after(np.array(tokens)).tolist() == [sum(tokens[n:]) for n in range(len(tokens) + 1)]
        for kernel in (find_prefix, find_prefix.py_func):
            assert kernel(groups, sum_after(np.array(tokens)), need, offsets) == (prefix, sum(postings[:prefix]))

    @given(
        members=st.sets(st.integers(0, 60)),
        asked=st.dictionaries(st.integers(0, 60), st.integers(1, 5)),
        need=st.integers(1, 20),
    )
    def test_is_exact_where_it_is_enough(self, members, asked, need):
        groups = np.array(sorted(asked), np.int64)
        weights = np.array([asked[group] for group in sorted(asked)], np.int64)
        after = np.append(np.cumsum(weights[::-1])[::-1], 0).astype(np.int64)
        actual = sum(asked[group] for group in members if group in asked)
        held = np.array(sorted(members), np.uint32)
        for kernel in (overlap_from, overlap_from.py_func):
            found, _ = kernel(held, 0, len(held), groups, after, 0, 0, need)
            assert found == actual if actual >= need else found < need
        sets = (np.array([0, len(held)]), held, np.array([0, len(held)]))
        for look_up, search in ((1.0, 0.0), (0.0, 1.0)):
            columns, overlaps = verify_columns(np.zeros(1, np.uint32), sets, groups, after, need, look_up, search)
            assert overlaps.tolist() == ([actual] if actual >= need else [])
            assert len(columns) == len(overlaps)


class TestPrefixFilter:
    @settings(max_examples=300)
    @given(
        lake=st.lists(st.sets(st.integers(0, 15)), min_size=1, max_size=12),
        asked=st.dictionaries(st.integers(0, 15), st.integers(1, 3), min_size=1),
        searches=st.sampled_from([0.01, 0.3, 1.0, 3.0, 100.0]),
        limit=st.sampled_from([0.0, 2.0, np.inf]),
        data=st.data(),
    )
    def test_whatever_costs_say_answers_are_those_of_brute_force(self, lake, asked, searches, limit, data):
        """Values are groups of up to three tokens each, of which the query may have fewer."""
        need = data.draw(st.integers(1, sum(asked.values())))
        rank = sorted(range(16), key=lambda value: sum(value in members for members in lake))
        lake = [{rank.index(value) for value in members} for members in lake]
        weights = {rank.index(value): weight for value, weight in asked.items()}
        groups = np.array(sorted(weights), np.int64)
        after = sum_after(np.array([weights[group] for group in groups.tolist()]))
        holders = [[number for number, members in enumerate(lake) if group in members] for group in range(16)]
        postings = (running_sum(np.array([*map(len, holders)])), np.array([*chain(*holders)], np.uint32))
        set_groups = np.array([group for members in lake for group in sorted(members)], np.uint32)
        sizes = np.array([3 * len(members) for members in lake])
        sets = (running_sum(sizes // 3), set_groups, running_sum(sizes))
        counts = np.zeros(len(lake), np.uint32)
        prefix, _ = find_prefix(groups, after, need, postings[0])
        columns, overlaps, _, _, cost = answer_by_postings(
            groups, after, prefix, need, 1 << 62, postings, sets, np.empty(0, np.bool_), searches, limit, counts,
            np.empty(len(lake) + 1, np.uint32),
        )  # fmt: skip
        shared = [sum(weights.get(group, 0) for group in members) for members in lake]
        expected = {number: overlap for number, overlap in enumerate(shared) if overlap >= need}
        found = dict(zip(columns.tolist(), overlaps.tolist(), strict=True))
        assert found == (expected if cost <= limit else {})
        assert not counts.any()


class TestAnswers:
    @pytest.mark.parametrize("plan", [None, "sketches", "postings"])
    def test_are_right_and_nearly_complete(self, lake, reader, queries, plan):
        for threshold in THRESHOLDS:
            recalls = []
            for query in queries:
                found, expected = answers(reader, query, threshold, plan=plan), truth(lake, query, threshold)
                assert found.items() <= expected.items()
                if plan == "postings":
                    assert found == expected
                if expected:
                    recalls.append(len(found) / len(expected))
            assert np.mean(recalls) >= 0.95, threshold

    def test_the_cheaper_plan_is_taken(self, tmp_path):
        """Long posting lists are not read where few columns are similar; those of a small query are."""
        rng = np.random.default_rng(7)
        values = np.array([f"v{i}" for i in range(2000)])
        lake = [[*values[rng.random(2000) < 0.2], *(f"{n} {i}" for i in range(900))] for n in range(300)]
        reader = LshEnsembleReader(build(tmp_path, [*lake, values[:1000].tolist()]))
        large = reader.search(pa.array(values), Fraction(1, 2))
        assert (large.columns.tolist(), large.work.plans) == ([300], ("sketches",))
        assert reader.search(pa.array(values[:20]), Fraction(1, 2)).work.plans == ("postings",)

    def test_tiny_queries_in_huge_columns_are_found(self, lake, reader):
        rng = np.random.default_rng(6)
        huge = int(np.argmax([len(values) for values in lake]))
        for size in (1, 2, 5, 10):
            query = set(rng.permutation(sorted(lake[huge]))[:size].tolist())
            for plan in (None, "sketches"):
                assert answers(reader, query, Fraction(1), plan=plan)[huge] == size

    def test_unverified_answers_hold_the_verified_ones(self, reader, queries):
        for query in queries[::7]:
            loose = answers(reader, query, Fraction(1, 2), verify=False, plan="sketches")
            strict = answers(reader, query, Fraction(1, 2), plan="sketches")
            assert strict.keys() <= loose.keys()
            assert all(overlap in (-1, strict.get(column)) for column, overlap in loose.items())

    def test_threads_change_nothing(self, segment, queries, monkeypatch):
        monkeypatch.setattr("dovetail.indexes.lsh_ensemble.query._WORTH_A_THREAD", 1)
        one, three = (LshEnsembleReader(segment, threads=threads) for threads in (1, 3))
        for query in queries[::9]:
            for threshold in THRESHOLDS[::3]:
                assert answers(one, query, threshold, plan="sketches") == answers(
                    three, query, threshold, plan="sketches"
                )

    def test_allowed(self, lake, reader, queries):
        allowed = np.arange(len(lake)) % 2 == 0
        for query in queries[::7]:
            for plan in ("sketches", "postings"):
                every = answers(reader, query, Fraction(1, 2), plan=plan)
                some = answers(reader, query, Fraction(1, 2), plan=plan, allowed=allowed)
                assert some == {column: overlap for column, overlap in every.items() if allowed[column]}

    def test_top(self, lake, reader, queries):
        close = []
        for query in queries[::3]:
            found = reader.top(pa.array(sorted(query)), 5)
            overlaps = [len(query & lake[column]) for column in found.columns]
            assert overlaps == found.overlaps.tolist() == sorted(overlaps, reverse=True)
            best = sorted((len(query & values) for values in lake), reverse=True)[:5]
            close.append(sum(overlaps) / max(sum(best), 1))
        assert np.mean(close) >= 0.95


class TestSegments:
    """The same columns in one segment and in several: partitions differ, and what may differ with them is this."""

    @settings(max_examples=12, deadline=None)
    @given(seed=st.integers(0, 1 << 32), parts=st.integers(2, 5), tenths=st.integers(1, 10))
    def test_only_what_sketches_miss_may_differ(self, tmp_path_factory, seed, parts, tenths):
        rng = np.random.default_rng(seed)
        lake, threshold = skewed_lake(rng, 120, 3000), Fraction(tenths, 10)
        folder = tmp_path_factory.mktemp("parted")
        members = [[*range(len(lake))], *(np.arange(part, len(lake), parts).tolist() for part in range(parts))]
        readers = [LshEnsembleReader(build(folder, [sorted(lake[n]) for n in numbers])) for numbers in members]

        def ask(query: set[str], **options: object) -> tuple[dict[int, int], dict[int, int]]:
            """The answers of the one segment, and those of the others together."""
            found = [
                {numbers[column]: overlap for column, overlap in answers(reader, query, threshold, **options).items()}
                for reader, numbers in zip(readers, members, strict=True)
            ]
            return found[0], {column: overlap for part in found[1:] for column, overlap in part.items()}

        for query in [lake[n] for n in rng.integers(len(lake), size=6)]:
            right = truth(lake, query, threshold)
            assert ask(query, plan="postings") == (right, right)
            for plan in (None, "sketches"):
                assert all(found.items() <= right.items() for found in ask(query, plan=plan))
            whole = self.similar(readers[0], lake, query, least_overlap(threshold, len(query)))
            for found in ask(query, plan="sketches", verify=False):
                assert all(column in whole if overlap < 0 else right[column] == overlap
                           for column, overlap in found.items())  # fmt: skip

    @staticmethod
    def similar(reader: LshEnsembleReader, lake: Sequence[set[str]], query: set[str], need: int) -> set[int]:
        """The columns that the comparison of whole sketches lets pass, whatever partitions there are."""
        arrays = reader.arrays
        asked = Sketch.of(arrays.parameters, hash_tokens(pa.array(sorted(query)))).values
        found = set()
        for number in range(arrays.partitions):
            for column, sketch in zip(arrays.members(number).tolist(), arrays.matrices(number)[0].T, strict=True):
                size = len(lake[column])
                similarity = need / (len(query) + max(size, need) - need)
                if size >= need and np.sum(sketch == asked) >= least_equal(similarity, len(asked)):
                    found.add(column)
        return found


class TestEdges:
    @pytest.mark.parametrize("plan", [None, "sketches", "postings"])
    @pytest.mark.parametrize("size", [10, 1000])
    def test_thresholds_are_rationals(self, tmp_path, plan, size):
        """0.7 of 10 is 7, though 0.7 * 10 in doubles is a little less, and ceil(0.07 * 100) is 8."""
        query = [f"v{i}" for i in range(size)]
        lake = [query[: size * share // 10] for share in range(11)] + [query[: size * 7 // 10 - 1]]
        reader = LshEnsembleReader(build(tmp_path, lake))
        for tenths in range(1, 11):
            found = reader.search(pa.array(query), tenths / 10, plan=plan)
            assert found.columns.tolist() == [*range(tenths, 11)] + ([11] if tenths < 7 else [])

    def test_least_overlap(self):
        assert [least_overlap(as_ratio(t), n) for t, n in ((0.7, 10), (0.07, 100), (1, 3), (0.1, 1))] == [7, 7, 3, 1]

    @pytest.mark.parametrize("threshold", [0, -0.1, 1.1, 2])
    def test_bad_thresholds_are_refused(self, reader, threshold):
        with pytest.raises(InputError, match="above 0 and at most 1"):
            reader.search(pa.array(["a"]), threshold)

    def test_unknown_tokens_count(self, tmp_path):
        reader = LshEnsembleReader(build(tmp_path, [["a", "b"], ["a"], []]))
        assert answers(reader, {"a", "b", "c", "d"}, Fraction(1, 2)) == {0: 2}
        assert answers(reader, {"a", "b", "c", "d"}, Fraction(3, 5)) == {}

    def test_a_prepared_query_can_be_asked_again(self, lake, reader, queries):
        for query in queries[::9]:
            prepared = reader.prepare(pa.array(sorted(query)))
            for threshold in THRESHOLDS[::3]:
                found = reader.search(prepared, threshold, plan="postings")
                assert dict(zip(found.columns.tolist(), found.overlaps.tolist(), strict=True)) == truth(
                    lake, query, threshold
                )

    @pytest.mark.parametrize("lake", [[], [[]], [["a"]], [[str(i) for i in range(500)]]])
    def test_nothing_asked_or_nothing_there(self, tmp_path, lake):
        reader = LshEnsembleReader(build(tmp_path, lake))
        for plan in (None, "sketches", "postings"):
            assert answers(reader, set(), Fraction(1, 2), plan=plan) == {}
            assert answers(reader, {"unheard"}, Fraction(1, 2), plan=plan) == {}
        assert reader.top(pa.array([], pa.string()), 3).columns.tolist() == []


class TestBuilding:
    def test_memory_changes_nothing(self, tmp_path, lake):
        columns = [sorted(values) for values in lake[:300]] * 2
        packs = [build(tmp_path, columns, memory).pack("lsh_ensemble") for memory in (1, 100_000, PLENTY)]
        for name in set(packs[0].names()) - {"costs"}:  # which are measured
            assert all(np.array_equal(pack[name], packs[0][name]) for pack in packs)

    @pytest.mark.parametrize("permutations", [64, 256])
    def test_other_numbers_of_permutations(self, tmp_path, lake, queries, permutations):
        segment = build(tmp_path, [sorted(values) for values in lake], permutations=permutations)
        assert list(LSH_ENSEMBLE.check(segment)) == []
        reader = LshEnsembleReader(segment)
        for query in queries[::11]:
            assert answers(reader, query, Fraction(1, 2)).items() <= truth(lake, query, Fraction(1, 2)).items()

    def test_small_columns_have_no_sketch(self, lake, segment, reader):
        assert sorted(reader.arrays.columns.tolist()) == [n for n, values in enumerate(lake) if len(values) >= 128]
        assert list(LSH_ENSEMBLE.check(segment)) == []

    @pytest.mark.parametrize("costs", [np.zeros(5), np.full(5, np.nan), np.ones(4)])
    def test_impossible_costs_are_damage(self, segment, monkeypatch, costs):
        monkeypatch.setitem(segment.pack("lsh_ensemble")._arrays, "costs", costs)
        with pytest.raises(IndexDamaged, match="its costs are missing or out of range"):
            LshEnsembleReader(segment)

    @pytest.mark.parametrize("name", ["parameters", "lowers", "uppers", "offsets", "columns", "signatures", "trees"])
    def test_damage_is_found(self, segment, monkeypatch, name):
        arrays = segment.pack("lsh_ensemble")._arrays
        for broken in (np.roll(arrays[name], 1), np.zeros_like(arrays[name]), arrays[name][:-1]):
            with monkeypatch.context() as patch:
                patch.setitem(arrays, name, broken)
                try:
                    found = list(LSH_ENSEMBLE.check(segment))
                except IndexDamaged as damage:
                    found = [str(damage)]
                assert found or np.array_equal(broken, arrays[name])
        assert list(LSH_ENSEMBLE.check(segment)) == []
