"""The compiled kernels against their plain Python form, and what they must never do to memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from dovetail.normalise import ColumnType, fold, gather, tokens
from dovetail.normalise import _arrow as arrow
from dovetail.normalise.classes import KEY_CLASSES, KEYS
from dovetail.normalise.dates import FORMATS

VALUES = [
    *(
        "",
        " a  B ",
        "É\u00a0é",
        "E\u0301",
        "ＡＢ",
        "👍🏽",
        "na",
        "N/A",
        "—",
        "\\N",
        "true",
        "unknown",
        "unknownx",
    ),
    *(
        "1",
        "+1.0",
        "-0",
        ".5",
        "-.50",
        "1.",
        "007",
        "1e5",
        "-999.0",
        "9999",
        "1,5",
        "+",
        "12345678901234567890.10",
    ),
    *("2004-6-1", "2004/06/12", "12.6.2004", "13/1/2004", "1/13/2004", "1/2/2004", "1-2-2004", "30/2/2004"),
    *("12 June 2004", "12-jun-2004", "Sept. 3 , 2004", "may 1 2004", "12 juni 2004", "29.2.1900"),
    *("2004-06-12 10:00", "2004-06-12T10:00:05.120+00:00", "2004-06-12T10:00:05-01:30", "2004-06-12T25:00"),
]
TYPES = [
    *(ColumnType(kind) for kind in ("text", "integer", "real", "mixed")),
    *(ColumnType(row.kind, row.name, na_is_null=True) for row in FORMATS),
    ColumnType("empty", na_is_null=True, sentinels_are_null=True),
]


def everything() -> list[object]:
    """The tokens of all values in columns of all types, and the evidence."""
    folded = fold(pa.array(VALUES))
    evidence = gather(folded, np.arange(1, len(VALUES) + 1))
    return [evidence.to_json(), *(tokens(folded, column_type).to_pylist() for column_type in TYPES)]


def test_compiled_kernels_do_what_their_plain_form_does() -> None:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    script = "import json, test_normalise_kernels as t; print(json.dumps(t.everything()))"
    plain = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=True)
    assert json.loads(plain.stdout) == everything()


@pytest.mark.parametrize("column_type", TYPES, ids=lambda t: t.date_format or t.kind)
def test_no_value_reads_its_neighbours(column_type: ColumnType) -> None:
    """A value alone, cut off at any byte, gives the token that it gives amid others."""
    pieces = [value[:end] for value in VALUES for end in range(len(value) + 1)]
    together = tokens(fold(pa.array(pieces)), column_type).to_pylist()
    alone = [tokens(fold(pa.array([piece])), column_type)[0].as_py() for piece in pieces]
    assert together == alone


def test_known_values_are_found_in_the_hash_table() -> None:
    assert len(set(KEYS.tolist())) == np.count_nonzero(KEY_CLASSES) + 1


def test_arrays_beyond_32_bit_offsets_are_refused() -> None:
    with pytest.raises(pa.ArrowCapacityError, match="a string array holds at most 2147483647"):
        arrow.check_size(pa.string(), 2**31)
    arrow.check_size(pa.large_string(), 2**31)
