"""What is kept of clients is bounded: by bytes, and by number, since many small tables take room as well."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dovetail.serve.kept import KeptTables
from dovetail.serve.limits import Limits
from dovetail.serve.problems import Refused

LIMITS = Limits(kept_tables=10, kept_steps=20, opened_mb=5)


@pytest.fixture
def kept(tmp_path):
    return KeptTables(tmp_path / "kept", LIMITS)


def send(kept, tmp_path, number):
    file = tmp_path / "upload.csv"
    file.write_text(f"a,b\n{number},{number}\n")
    return kept.keep_upload(file, "mine.csv").name


def files(kept, suffix):
    return len(list(kept.folder.glob(f"*{suffix}")))


def test_small_uploads_make_room_by_their_number(kept, tmp_path):
    names = [send(kept, tmp_path, number) for number in range(50)]
    assert files(kept, ".parquet") == files(kept, ".json") == LIMITS.kept_tables
    assert len(kept._opened) == LIMITS.opened_mb, "each counts for a megabyte"
    assert kept.open(names[-1]).rows == 1
    with pytest.raises(Refused, match="Send the file again"):
        kept.open(names[0])


def test_steps_of_results_are_remembered_but_not_all(kept):
    table = pa.table({"a": ["1"]})
    names = [kept.keep_result({"number": number}, "joined", table).name for number in range(50)]
    assert files(kept, ".parquet") == LIMITS.kept_tables
    assert files(kept, ".json") == LIMITS.kept_tables + LIMITS.kept_steps
    assert kept.open(names[25]) is None and kept.describe(names[25]).step == {"number": 25}
    with pytest.raises(Refused):
        kept.describe(names[0])
    assert kept.open(names[-1]).rows == 1


def test_results_make_room_before_uploads(kept, tmp_path):
    upload = send(kept, tmp_path, 0)
    for number in range(50):
        kept.keep_result({"number": number}, "joined", pa.table({"a": ["1"]}))
    assert kept.open(upload).rows == 1
