"""Folding: the specification, the table that must agree with it, and the shapes of Arrow arrays."""

from __future__ import annotations

import unicodedata

import numpy as np
import pyarrow as pa
import pytest

from dovetail.normalise import fold, fold_one
from dovetail.normalise._fold_kernels import fold_values, splice
from dovetail.normalise.folding import INVISIBLE, WHITE_SPACE, _ascii_table

EVERY_CHARACTER = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Co", "Cs")]

SAME = [
    ("Paris", "  paris "),
    ("PARIS", "paris"),
    ("New York", "new\u00a0york"),
    ("New York", "New \t\n York"),
    ("New York", "New\u3000York"),
    ("Paris", "\ufeffPa\u200bris\u00ad"),
    ("Åland", "A\u030aland"),
    ("ÅLAND", "åland"),
    ("Straße", "STRASSE"),
    ("ＡＢＣ１２３", "abc123"),
    ("a\u200e", "A"),
    ("e\u200b\u0301", "é"),
    ("H\u0331", "\u1e96"),
]

DIFFERENT = [
    ("10²", "102"),
    ("Paris¹", "paris1"),
    ("½", "1⁄2"),
    ("ﬁ", "fj"),
    ("O’Neill", "O'Neill"),
    ("a–b", "a-b"),
    ("é", "e"),
    ("a\x1fb", "a b"),
    ("a\x00", "a"),
    ("New York", "NewYork"),
    ("می\u200cخواهم", "میخواهم"),
    ("👨\u200d👩", "👨👩"),
    ("", "-"),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_people_mean_the_same(left: str, right: str) -> None:
    assert fold_one(left) == fold_one(right)


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_people_mean_something_else(left: str, right: str) -> None:
    assert fold_one(left) != fold_one(right)


def test_every_character_alone_and_between_letters() -> None:
    """The table agrees with the specification for all of Unicode, in the presence of neighbours too."""
    for before, after in (("", ""), ("A", "Z"), ("\u1100", "\u0301"), ("x ", " y")):
        values = [before + c + after for c in EVERY_CHARACTER]
        assert fold(pa.array(values)).to_pylist() == [fold_one(value) for value in values]


def test_every_character_folds_once_and_for_all() -> None:
    for before, after in (("", ""), ("H", "\u0331"), ("a", "\u0345\u0301")):
        folded = [fold_one(before + c + after) for c in EVERY_CHARACTER]
        assert [fold_one(value) for value in folded] == folded


def test_every_pair_that_unicode_composes() -> None:
    pairs = [unicodedata.normalize("NFD", c) for c in EVERY_CHARACTER]
    values = [pair for pair in pairs if len(pair) > 1]
    values += [value.upper() for value in values]
    assert fold(pa.array(values)).to_pylist() == [fold_one(value) for value in values]
    assert [fold_one(fold_one(value)) for value in values] == [fold_one(value) for value in values]


def test_white_space_and_invisible_characters_vanish_at_the_ends() -> None:
    for character in (*WHITE_SPACE, *INVISIBLE):
        assert fold_one(chr(character) + "a" + chr(character)) == "a"
        assert fold_one(chr(character)) == ""


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_slices_nulls_and_empty_arrays(kind: pa.DataType) -> None:
    values = ["X", None, " Éa  B ", "e\u0301", None, "", "ŸŸ\u0301", "last"]
    whole = pa.array(values, kind)
    expected = [None if value is None else fold_one(value) for value in values]
    for start in range(len(values) + 1):
        for length in range(len(values) - start + 1):
            folded = fold(whole.slice(start, length))
            folded.validate(full=True)
            assert folded.type == kind
            assert folded.to_pylist() == expected[start : start + length]


def test_the_input_is_untouched_and_all_null_arrays_are_strings() -> None:
    raw = pa.array(["A  B"])
    fold(raw)
    assert raw.to_pylist() == ["A  B"]
    assert fold(pa.nulls(3)).to_pylist() == [None, None, None]
    assert fold(pa.nulls(3)).type == pa.string()


def test_other_types_are_refused_with_a_sentence() -> None:
    with pytest.raises(TypeError, match=r"found an array of int64; string or large_string is allowed"):
        fold(pa.array([1]))


def test_compiled_kernels_do_what_their_plain_form_does() -> None:
    data = np.frombuffer(" A  b\xc3\xa9Z".encode("latin-1"), np.uint8)
    offsets = np.array([0, 5, 7, 8], dtype=np.int32)
    results = []
    for kernel in (fold_values, fold_values.py_func):
        out, ends, slow = np.zeros(8, np.uint8), np.zeros(4, np.int32), np.zeros(3, np.int64)
        left = kernel(data, offsets, np.zeros(0, np.bool_), _ascii_table(), out, ends, slow)
        results.append((left, out.tolist(), ends.tolist(), slow.tolist()))
    assert results[0] == results[1]
    assert results[0][0] == 1
    spliced = []
    for kernel in (splice, splice.py_func):
        out, ends = np.zeros(6, np.uint8), np.zeros(4, np.int32)
        patch = np.frombuffer("é".encode(), np.uint8)
        fast = np.frombuffer(b"a bz", np.uint8)
        kernel(fast, np.array([0, 3, 3, 4]), np.array([1]), patch, np.array([0, 2]), out, ends)
        spliced.append((bytes(out).decode(), ends.tolist()))
    assert spliced == [("a béz", [0, 3, 5, 6])] * 2
