"""What holds for any text: folding is the specification's, numbers are Decimal's, evidence adds up."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dovetail.normalise import (
    ColumnType,
    TypeEvidence,
    decide,
    fold,
    fold_one,
    gather,
    normalise,
    normalise_value,
    tokens,
)
from dovetail.normalise._date_kernels import date_class, write_date
from dovetail.normalise._value_kernels import (
    EXPONENT,
    INTEGER,
    LEADING_ZERO,
    REAL,
    TEXT,
    parse_number,
    write_number,
)
from dovetail.normalise.column_type import null_classes
from dovetail.normalise.dates import FORMATS

MARKS = "\u0301\u0308\u030a\u0327\u0331\u0345\u3099\u1161\u11a8\u200b\u200c\u200d\u00ad\ufeff\u00a0\u3000\t "
LETTERS = "ĳǰİıſẞΐᾳΣςAaEeHhIiSsＡａ１ÅÖçŒЖжΩωἈカガ가한漢🎈１\u212b\u2126\u1100\x00\x1f"
text = st.text() | st.text(MARKS + LETTERS, max_size=12) | st.text(st.characters(max_codepoint=0x24F), max_size=12)

DIGITS = st.text("0123456789", max_size=22)
SIGNS = st.sampled_from(["", "+", "-"])
number_like = st.builds("".join, st.tuples(SIGNS, DIGITS, st.sampled_from(["", "."]), DIGITS)) | st.text(
    "0159.+-e ", max_size=8
)
part = st.integers(0, 32).flatmap(lambda n: st.sampled_from([str(n), f"{n:02d}"]))
year = st.sampled_from(["0000", "0001", "1900", "2000", "2004", "9999", "04", "20041"])
mark = st.sampled_from(["-", "/", ".", " ", ", ", ""])
month = st.sampled_from(["jan", "february", "feb.", "march", "may", "june", "sept", "sep", "december", "dez", "ju"])
time_like = st.from_regex(
    r"[t ][0-2][0-9]:[0-6][0-9](:[0-6][0-9](\.[0-9]{0,4})?)?(z|[+-][0-2][0-9]:[0-6]0)?", fullmatch=True
)
date_like = (
    st.builds(
        "".join,
        st.tuples(part | year | month, mark, part | month, mark, part | year, st.just("") | time_like),
    )
    | st.builds("{}-{}-{}{}".format, st.just("2004"), part, part, time_like)
    | st.builds("{0}{3}{1}{3}{2}".format, part, part, year, st.sampled_from("-/."))
)
null_like = st.sampled_from(["", "-", "N/A", "NA", "na", "NULL", "9999", "-999", "-999.0", "?", "—", "None"])
value = text | number_like | date_like | null_like | st.sampled_from(["true", "False", "1", "2", "a"])
columns = st.lists(value | st.none(), max_size=12) | st.sampled_from([number_like, date_like]).flatmap(
    lambda kind: st.lists(kind | null_like, min_size=1, max_size=6)
)

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII)
_MONTHS = [datetime.date(2000, month, 1).strftime("%B").lower() for month in range(1, 13)]


def strings(values: list[str | None]) -> pa.Array:
    return pa.array(values, pa.string())


def evidence_of(values: list[str | None], counts: list[int]) -> TypeEvidence:
    return gather(fold(strings(values)), np.array(counts, dtype=np.int64))


def type_of(values: list[str | None]) -> ColumnType:
    return decide(evidence_of(values, [1] * len(values)))


def as_bytes(value: str) -> np.ndarray:
    data = np.frombuffer(value.encode(), np.uint8)
    data.setflags(write=False)
    return data


@given(text)
def test_folding_is_idempotent(value: str) -> None:
    assert fold_one(fold_one(value)) == fold_one(value)


@given(st.lists(text | st.none(), max_size=8), st.integers(0, 8))
def test_folding_an_array_is_folding_each_value(values: list[str | None], start: int) -> None:
    folded = fold(strings(values).slice(start))
    folded.validate(full=True)
    assert folded.to_pylist() == [None if v is None else fold_one(v) for v in values[start:]]


def number_class(value: str) -> int:
    """The class of a number by a regular expression: the rule as it is written in the guide."""
    match = _NUMBER.fullmatch(value)
    if match is None:
        return TEXT
    if re.match(r"[+-]?0\d", value):
        return LEADING_ZERO
    if match[2]:
        return EXPONENT
    return INTEGER if Decimal(value) == Decimal(value).to_integral_value() else REAL


@given(number_like)
def test_numbers_are_known_by_the_rule(value: str) -> None:
    data = as_bytes(value)
    assert parse_number(data, 0, len(data))[0] == number_class(value)
    assert tuple(parse_number.py_func(data, 0, len(data))) == tuple(parse_number(data, 0, len(data)))


@given(number_like, number_like)
def test_number_tokens_are_equal_iff_the_decimals_are(left: str, right: str) -> None:
    numeric = ColumnType("real")
    if {number_class(left), number_class(right)} <= {INTEGER, REAL}:
        a, b = normalise_value(left, numeric), normalise_value(right, numeric)
        assert (a == b) == (Decimal(left) == Decimal(right))
        assert a is not None
        assert Decimal(a) == Decimal(left)
        assert re.fullmatch(r"0|-?([1-9]\d*|(0|[1-9]\d*)\.\d*[1-9])", a)


@given(number_like)
def test_writing_a_number_needs_one_byte_more_at_most(value: str) -> None:
    data = as_bytes(value)
    out, plain = np.zeros(len(data) + 1, np.uint8), np.zeros(len(data) + 1, np.uint8)
    size = write_number(data, 0, len(data), out, 0)
    assert size <= len(data) + 1
    assert write_number.py_func(data, 0, len(data), plain, 0) == size
    assert plain.tolist() == out.tolist()


def days_of(value: str) -> set[str]:
    """All readings of a date, by regular expressions and Python's calendar."""
    found = set()
    names = "|".join(f"{name}|{name[:3]}" for name in _MONTHS) + "|sept"
    patterns = (
        r"(?P<y>\d{4})([-/])(?P<m>\d\d?)\2(?P<d>\d\d?)",
        r"(?P<d>\d\d?)([-/.])(?P<m>\d\d?)\2(?P<y>\d{4})",
        r"(?P<m>\d\d?)([-/])(?P<d>\d\d?)\2(?P<y>\d{4})",
        rf"(?P<d>\d\d?)(-)(?P<m>{names})-(?P<y>\d{{4}})",
        rf"(?P<d>\d\d?)[ ,.]+(?P<m>{names})[ ,.]+(?P<y>\d{{4}})",
        rf"(?P<m>{names})[ ,.]+(?P<d>\d\d?)[ ,.]+(?P<y>\d{{4}})",
    )
    for match in filter(None, (re.fullmatch(pattern, value, re.ASCII) for pattern in patterns)):
        name = match["m"]
        number = int(name) if name.isdigit() else [m[:3] for m in _MONTHS].index(name[:3]) + 1
        try:
            found.add(datetime.date(int(match["y"]), number, int(match["d"])).isoformat())
        except ValueError:
            continue
    return found


@given(date_like)
def test_dates_are_those_of_the_calendar(value: str) -> None:
    data = as_bytes(value)
    written = set()
    for row in (row for row in FORMATS if row.kind == "date"):
        out = np.zeros(len(data) + 5, np.uint8)
        size = write_date(data, 0, len(data), row.layout, row.day_first, out, 0)
        token = bytes(out[:size]).decode()
        accepted = any(date_class(data, 0, len(data)) == kind for kind in row.classes)
        if accepted and token != value:
            written.add(token)
    assert written | ({value} & days_of(value)) == days_of(value)
    assert (date_class(data, 0, len(data)) != TEXT) == bool(days_of(value) or is_timestamp(value))


def is_timestamp(value: str) -> bool:
    date, _, time = value.replace(" ", "t").partition("t")
    zone = r"(z|[+-]([01]\d|2[0-3]):[0-5]\d)?"
    clock = re.fullmatch(rf"([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?{zone}", time, re.ASCII)
    return bool(clock) and bool(re.match(r"\d{4}-", date)) and bool(days_of(date))


@given(st.builds("2004-06-12{}".format, time_like))
def test_timestamps_are_those_that_python_reads(value: str) -> None:
    column_type = type_of([value])
    assert (column_type.kind == "timestamp") == is_timestamp(value)
    if column_type.kind == "timestamp":
        token = normalise_value(value, column_type)
        assert token is not None
        assert datetime.datetime.fromisoformat(token.upper()) == datetime.datetime.fromisoformat(value.upper())
        assert normalise_value(token, column_type) == token


@given(
    st.lists(st.tuples(value | st.none(), st.integers(1, 9)), max_size=12),
    st.integers(0, 12),
    st.integers(0, 12),
)
def test_evidence_of_slices_is_evidence_of_the_whole(
    pairs: list[tuple[str | None, int]], first: int, second: int
) -> None:
    values, counts = [v for v, _ in pairs], [c for _, c in pairs]
    low, high = sorted((first, second))
    a, b, c = (evidence_of(values[s], counts[s]) for s in (slice(low), slice(low, high), slice(high, None)))
    whole = evidence_of(values, counts)
    assert (a + b) + c == a + (b + c) == c + a + b == whole
    assert TypeEvidence.from_json(whole.to_json()) == whole
    assert whole + TypeEvidence() == whole
    assert whole.rows == sum(counts)


@given(columns)
def test_one_value_is_normalised_as_in_its_column(values: list[str | None]) -> None:
    column_type = ColumnType.from_json(type_of(values).to_json())
    result = normalise(strings(values), column_type)
    result.validate(full=True)
    assert result.to_pylist() == [None if v is None else normalise_value(v, column_type) for v in values]
    assert result.cast("large_string") == normalise(strings(values).cast("large_string"), column_type)


@given(columns)
def test_the_evidence_counts_the_nulls_that_tokens_have(values: list[str | None]) -> None:
    evidence = evidence_of(values, [1] * len(values))
    column_type = decide(evidence)
    result = normalise(strings(values), column_type)
    assert result.null_count == evidence.rows_of(null_classes(column_type))
    if column_type.kind == "empty":
        assert result.null_count == len(values)


@given(columns)
def test_tokens_of_a_column_are_its_folded_text_unless_it_is_of_numbers_or_dates(
    values: list[str | None],
) -> None:
    column_type = type_of(values)
    folded = fold(strings(values)).to_pylist()
    result = normalise(strings(values), column_type).to_pylist()
    for before, after in zip(folded, result, strict=True):
        if after is not None and after != before:
            assert column_type.kind in ("integer", "real") or column_type.date_format


@given(columns)
def test_tokens_are_tokens_of_themselves(values: list[str | None]) -> None:
    """Normalising tokens again, by the same type, changes nothing: a join may be handed either."""
    column_type = type_of(values)
    once = normalise(strings(values), column_type)
    assert tokens(fold(once), column_type).to_pylist() == once.to_pylist()
