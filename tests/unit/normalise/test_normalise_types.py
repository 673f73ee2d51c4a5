"""The type of a column and the tokens of its values, rule by rule."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

import dovetail.normalise
from dovetail.normalise import (
    ColumnType,
    TypeEvidence,
    decide,
    fold,
    gather,
    normalise,
    normalise_value,
    tokens,
)
from dovetail.normalise.column_type import null_classes


def evidence_of(values: list[str | None], counts: list[int] | None = None) -> TypeEvidence:
    return gather(fold(pa.array(values, pa.string())), np.array(counts or [1] * len(values)))


def type_of(values: list[str | None]) -> ColumnType:
    return decide(evidence_of(values))


def tokens_of(values: list[str | None]) -> list[str | None]:
    """The tokens of a column by its own type; every result is checked to be a valid Arrow array."""
    result = normalise(pa.array(values, pa.string()), type_of(values))
    result.validate(full=True)
    return result.to_pylist()


NUMBERS = [
    (["1", "+1", "1.0", "1.00", "1."], "integer", ["1"] * 5),
    (["1001.0", "1003.0"], "integer", ["1001", "1003"]),
    (["12345678901234567890", "12345678901234567891"], "integer", None),
    (["0", "-0", "-0.0", "+0", ".0", "0."], "integer", ["0"] * 6),
    ([".5", "0.5", "0.50", "+.5"], "real", ["0.5"] * 4),
    (["-.5", "-0.500", "10.10"], "real", ["-0.5", "-0.5", "10.1"]),
    (["1e5", "100000", "1.2E-05"], "real", ["1e5", "100000", "1.2e-05"]),
    (["100", "1000"], "integer", ["100", "1000"]),
    (["9999", "1"], "integer", ["9999", "1"]),
    (["2004", "2005"], "integer", ["2004", "2005"]),
    (["00501", "10001"], "text", ["00501", "10001"]),
    (["00501", "1.0"], "text", ["00501", "1.0"]),
    (["007.5", "1.0"], "text", ["007.5", "1.0"]),
    (["01e5", "1"], "text", ["01e5", "1"]),
    (["1", "1.0", "x"], "mixed", ["1", "1.0", "x"]),
    (["1,234", "12,5"], "text", ["1,234", "12,5"]),
    (["1.2.3", "1.2.4"], "text", ["1.2.3", "1.2.4"]),
    (["+", "-.", "e5", "1e", "1e+", "0x1f", "inf"], "text", None),
    (["１", "２.０"], "integer", ["1", "2"]),
]


@pytest.mark.parametrize(("values", "kind", "expected"), NUMBERS)
def test_numbers(values: list[str], kind: str, expected: list[str] | None) -> None:
    assert type_of(values).kind == kind
    assert tokens_of(values) == (values if expected is None else expected)


def test_one_number_in_ten_rows_makes_text_mixed() -> None:
    assert decide(evidence_of(["a", "1"], [9, 1])).kind == "mixed"
    assert decide(evidence_of(["a", "1"], [10, 1])).kind == "text"
    assert decide(evidence_of(["a", "1", None], [9, 1, 500])).kind == "mixed"


def test_a_value_that_is_no_number_stays_text_in_a_numeric_column() -> None:
    integers = ColumnType("integer")
    assert normalise_value("007", integers) == "007"
    assert normalise_value("1e5", integers) == "1e5"
    assert normalise_value(" Seven", integers) == "seven"
    assert normalise_value("7.0", integers) == "7"


DATES = [
    (["2004-06-12", "2004-6-1"], "y-m-d", ["2004-06-12", "2004-06-01"]),
    (["2004/06/12", "2004/6/1"], "y/m/d", ["2004-06-12", "2004-06-01"]),
    (["12.06.2004", "1.6.2004"], "d.m.y", ["2004-06-12", "2004-06-01"]),
    (["13/06/2004", "1/6/2004"], "d/m/y", ["2004-06-13", "2004-06-01"]),
    (["06/13/2004", "6/1/2004"], "m/d/y", ["2004-06-13", "2004-06-01"]),
    (["13-06-2004", "1-6-2004"], "d-m-y", ["2004-06-13", "2004-06-01"]),
    (["06-13-2004", "6-1-2004"], "m-d-y", ["2004-06-13", "2004-06-01"]),
    (["12 June 2004", "1 SEP 2004", "2 Sept. 2004"], "d month y", ["2004-06-12", "2004-09-01", "2004-09-02"]),
    (["June 12, 2004", "june 12 , 2004", "Jun. 1 2004"], "month d y", ["2004-06-12"] * 2 + ["2004-06-01"]),
    (["12-Jun-2004", "1-may-2004"], "d-month-y", ["2004-06-12", "2004-05-01"]),
    (["29.2.2000", "28.2.1900"], "d.m.y", ["2000-02-29", "1900-02-28"]),
]


@pytest.mark.parametrize(("values", "date_format", "expected"), DATES)
def test_dates_become_iso(values: list[str], date_format: str, expected: list[str]) -> None:
    assert type_of(values) == ColumnType("date", date_format, na_is_null=True)
    assert tokens_of(values) == expected
    assert tokens_of([*values, "NA", "?", None]) == [*expected, None, None, None]


@pytest.mark.parametrize("values", [["1/2/2004", "12/12/2004"], ["1-2-2004"]])
def test_ambiguous_dates_stay_text(values: list[str]) -> None:
    assert type_of(values) == ColumnType("date", "", na_is_null=True)
    assert tokens_of(values) == values


NOT_DATES = [
    ["2023-02-30", "2023-02-01"],
    ["29.2.1900"],
    ["13/13/2004", "1/1/2004"],
    ["13/1/2004", "1/13/2004"],
    ["2004-06-12", "2004/06/12"],
    ["2004-06-12", "2004-06-12 10:00"],
    ["12-Jun-2004", "12 June 2004"],
    ["12.06.04"],
    ["0000-01-01"],
    ["20040-01-01"],
    ["2004-06-12x"],
    ["12 Juni 2004"],
    ["12june2004"],
    ["june12 2004"],
    ["12/06-2004"],
    ["2004.06.12"],
    ["2004-06-12 24:00"],
    ["2004-06-12 10:60"],
    ["2004-06-12 10:00:60"],
    ["2004-06-12 1:00"],
    ["2004-06-12 10:00:00."],
    ["2004-06-12 10:00 +01:00"],
    ["2004-06-12T10:00+0100"],
    ["2004/06/12 10:00"],
]


@pytest.mark.parametrize("values", NOT_DATES)
def test_what_is_no_date_is_text(values: list[str]) -> None:
    assert type_of(values).kind == "text"
    assert tokens_of(values) == fold(pa.array(values)).to_pylist()


def test_timestamps() -> None:
    values = [
        "2004-06-12T10:00",
        "2004-6-12 10:00:00.000",
        "2004-06-12 10:00:00.120Z",
        "2004-06-12T10:00:00+00:00",
    ]
    values += ["2004-06-12T10:00:00-05:30", "2004-06-12T10:00:00-00:00"]
    assert type_of(values).kind == "timestamp"
    assert tokens_of(values) == [
        "2004-06-12t10:00:00",
        "2004-06-12t10:00:00",
        "2004-06-12t10:00:00.12z",
        "2004-06-12t10:00:00z",
        "2004-06-12t10:00:00-05:30",
        "2004-06-12t10:00:00-00:00",
    ]


def test_booleans() -> None:
    assert type_of(["TRUE", "False"]).kind == "boolean"
    assert tokens_of(["TRUE", "False"]) == ["true", "false"]
    assert type_of(["0", "1"]).kind == "integer"
    assert type_of(["y", "n"]).kind == type_of(["yes", "no"]).kind == type_of(["true", "maybe"]).kind == "text"


MARKERS = [
    "",
    " ",
    "\u00a0\u200b",
    "-",
    "–",
    "—",
    "--",
    "---",
    "N/A",
    "(n/a)",
    "?",
    "??",
    "Unknown",
    "•",
    "…",
    "...",
]
MARKERS += ["NULL", "NaN", "None", "#N/A", "<NA>", "\\N", ".", "..", "n.a."]


@pytest.mark.parametrize("marker", MARKERS)
def test_null_markers_are_null_in_every_column(marker: str) -> None:
    for others in (["a"], ["1"], ["2004-06-12"], ["true"], ["1", "a"], []):
        assert tokens_of([*others, marker]) == [*others, None]
        assert type_of([*others, marker]).kind == type_of(others).kind


def test_na_is_namibia_among_codes_and_null_among_numbers() -> None:
    assert tokens_of(["NA", "DE"]) == ["na", "de"]
    assert tokens_of(["NA", "1", "de"]) == ["na", "1", "de"]
    for others in (
        ["1"],
        ["true"],
        ["1.5", "1e5"],
        ["00501"],
        ["2004-06-12"],
        ["1/2/2004"],
        ["2004-06-12", "1/2/2004"],
        [],
    ):
        assert tokens_of(["NA", *others]) == [None, *others]


def test_sentinels_are_null_only_where_nothing_else_is() -> None:
    values = [
        "NA",
        "N/A",
        "null",
        "-",
        "\\N",
        "#N/A",
        "?",
        ".",
        "NaN",
        "None",
        "",
        " ",
        "--",
        "<NA>",
        "9999",
        "-999",
    ]
    assert type_of(values) == ColumnType("empty", na_is_null=True, sentinels_are_null=True)
    assert tokens_of(values) == [None] * len(values)
    assert tokens_of(["-999.0", "+9999", "999."]) == [None] * 3
    assert tokens_of(["-999", "3"]) == ["-999", "3"]
    assert tokens_of(["9999", "x"]) == ["9999", "x"]
    assert tokens_of(["-999.5"]) == ["-999.5"]
    assert type_of([]) == type_of([None]) == type_of(["NA"]) == type_of(values)


def test_evidence_tells_the_catalog_its_shares() -> None:
    evidence = evidence_of(["a", "1", "007", "2004-06-12", "NA", "?", None], [4, 2, 1, 2, 1, 5, 3])
    assert evidence.rows == 18
    assert evidence.distinct_values == 5
    assert evidence.number_share(ColumnType("text")) == 0.3
    assert evidence.number_share(ColumnType("text", na_is_null=True)) == 3 / 9
    assert evidence.rows_of(null_classes(ColumnType("text"))) == 8
    assert evidence.rows_of(null_classes(ColumnType("integer", na_is_null=True))) == 9
    assert TypeEvidence().number_share(ColumnType("empty")) == 0.0


def test_evidence_wants_a_count_for_each_value() -> None:
    with pytest.raises(ValueError, match="found 1 counts for 2 values"):
        gather(pa.array(["a", "b"]), np.array([1]))


def test_types_and_evidence_survive_json() -> None:
    evidence = evidence_of(["a", "1", "31/12/2004", None])
    assert TypeEvidence.from_json(json.loads(json.dumps(evidence.to_json()))) == evidence
    column_type = type_of(["31/12/2004"])
    assert ColumnType.from_json(json.loads(json.dumps(column_type.to_json()))) == column_type


def test_unknown_kinds_and_formats_are_refused() -> None:
    with pytest.raises(ValueError, match="found the kind 'money'"):
        ColumnType("money")
    with pytest.raises(ValueError, match="found the date format 'y'"):
        ColumnType("date", "y")


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("values", [["1.0", None, "-", "+2", ".5"], ["1.2.2004", "?", None], ["a", "?", None, "b"]])
def test_slices_and_nulls(values: list[str | None], kind: pa.DataType) -> None:
    whole = pa.array(values, kind)
    column_type = type_of(values)
    expected = [None if value is None else normalise_value(value, column_type) for value in values]
    for start in range(len(values) + 1):
        result = tokens(whole.slice(start), column_type)
        result.validate(full=True)
        assert result.type == kind
        assert result.to_pylist() == expected[start:]


def test_public_names() -> None:
    assert sorted(dovetail.normalise.__all__, key=lambda n: (not n.isupper(), n)) == dovetail.normalise.__all__
    assert all(hasattr(dovetail.normalise, name) for name in dovetail.normalise.__all__)
    assert dovetail.normalise.NORMALISER_VERSION == 1
