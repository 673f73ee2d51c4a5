"""Every source keeps the same promises: files, containers, folders of files, buckets and databases."""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from pathlib import Path

import pyarrow as pa
import pytest

import dovetail
from dovetail import _objects
from dovetail._spark.session import SparkRequest, spark_session
from dovetail.errors import UnreadableTable, VanishedTable
from dovetail.lake.layout import Part
from dovetail.lake.listing import Root, TableFile
from dovetail.lake.reader import detect_layout, read, split
from dovetail.lake.source import is_divisible, list_lake, source_of
from dovetail.pipeline import reading
from dovetail.pipeline.reading import current_fingerprint, scan
from support.buckets import buckets_in_memory, s3_server
from support.pipeline import without_spark
from support.postgres import postgres_server
from support.sources import BY_SPARK, KINDS, Bucket, Database, Folder, Kind, Place, as_nobody

DAY = datetime.date(2024, 2, 29)
ROWS = pa.table(
    {
        "id": [1, 2, 3, 4],
        "name": ["Zürich, 'ZH'", "東京 🗼", None, 'say "no"; a | b'],
        "x": [0.25, None, -3.0, 0.0125],
        "dãy": pa.array([DAY, None, DAY, DAY - datetime.timedelta(30_000)], pa.date32()),
        "ok": [True, False, None, True],
        "part": ["a", "a", "b", "b"],
    }
)
MORE = pa.concat_tables([ROWS, ROWS.slice(3).set_column(0, "id", pa.array([5]))])
NAMES = [kind.name for kind in KINDS]
IN_MEMORY = [kind for kind in KINDS if kind.name in ("t.csv", "t.avro", "t.orc", "t.xlsx", "hive")]


def _parameters() -> Iterator[object]:
    full = pytest.mark.full
    yield from (pytest.param(("folder", kind), id=kind.name) for kind in KINDS)
    yield from (pytest.param(("memory", kind), id=f"bucket-{kind.name}") for kind in IN_MEMORY)
    yield pytest.param(("folder", BY_SPARK), id=BY_SPARK.name, marks=full)
    yield from (pytest.param(("server", kind), id=f"s3-{kind.name}", marks=full) for kind in KINDS)
    yield pytest.param(("database", None), id="postgresql", marks=full)


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch, postgres_server() as address:
        patch.setenv("PGPASSWORD", "not-to-be-seen")
        yield address


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[dict[str, str]]:
    with s3_server("bucket", tmp_path_factory.mktemp("s3") / "log") as variables:
        yield variables


@pytest.fixture(scope="module")
def spark() -> Iterator[None]:
    with spark_session(SparkRequest(None, "local[2]")):
        yield


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not below a folder of pytest, which others may not look into."""
    with tempfile.TemporaryDirectory(prefix="contract-") as made:
        Path(made).chmod(0o755)
        yield Path(made)


@pytest.fixture(params=_parameters())
def place(request, folder, tmp_path, monkeypatch) -> Iterator[Place]:
    """An empty place for a table."""
    where, kind = request.param
    if kind is BY_SPARK:
        request.getfixturevalue("spark")
    if where == "folder":
        yield Folder(folder, kind)
    elif where == "memory":
        with buckets_in_memory(tmp_path / "cache"):
            yield Bucket(kind)
    elif where == "server":
        for name, value in request.getfixturevalue("server").items():
            monkeypatch.setenv(name, value)
        _objects.client.cache_clear()
        yield Bucket(kind)
        _objects.client.cache_clear()
    else:
        yield Database(request.getfixturevalue("database"))


@pytest.fixture
def kind(place) -> Kind:
    return getattr(place, "kind", Kind("t", lambda rows, path: None))


def listed(place: Place) -> TableFile:
    """The one table of a place."""
    (file,) = list_lake([Root.of(place.root)]).values()
    return file


def rows_of(file: TableFile, folder: Path, target_bytes: int | None = None) -> pa.Table:
    """Through the source, whole, or in parts where it can be divided."""
    source = source_of(file.path)
    path = source.open(file.path) if target_bytes and is_divisible(file.path) else source.copy(file, folder).path
    layout = detect_layout(path)
    parts = split(path, layout, target_bytes) if target_bytes else [Part()]
    batches = [batch for part in parts for batch in read(path, layout, part)]
    return pa.Table.from_batches(batches, pa.schema([(name, pa.string()) for name in layout.columns]))


def plain(value: object) -> object:
    """What formats may write in different ways: numbers, truth, and nothing."""
    text = "" if value is None else str(value)
    if text.lower() in ("true", "false", "1", "0"):
        return text.lower() in ("true", "1")
    try:
        return Decimal(text).normalize()
    except InvalidOperation:
        return text.removesuffix(" 00:00:00")


def sorted_rows(rows: pa.Table) -> list[dict[str, object]]:
    found = [{name: plain(value) for name, value in row.items()} for row in rows.to_pylist()]
    return sorted(found, key=lambda row: int(row["id"]))


def test_nulls_types_and_unicode(place, tmp_path):
    place.put(ROWS)
    file = listed(place)
    assert (file.table, file.refused) == (place.table, "")
    assert sorted_rows(rows_of(file, tmp_path)) == sorted_rows(ROWS)


def test_no_rows(place, kind, tmp_path):
    place.put(ROWS.slice(0, 0))
    if kind.empty == "not there":
        assert not list_lake([Root.of(place.root)])
        return
    try:
        file = listed(place)
        if file.refused:
            raise UnreadableTable(file.refused)
        found = rows_of(file, tmp_path)
    except UnreadableTable as reason:
        assert kind.empty
        assert kind.empty in str(reason)
    else:
        assert not kind.empty
        assert found.num_rows == 0
        assert set(found.column_names) == set(ROWS.column_names)


def test_parts_are_the_whole(place, tmp_path):
    number = 1_200
    many = pa.table({"id": range(number), "part": [f"{3 * i // number}" for i in range(number)]})
    place.put(many)
    file = listed(place)
    whole = rows_of(file, tmp_path)
    assert sorted(map(int, whole["id"].to_pylist())) == list(range(number))
    assert rows_of(file, tmp_path, target_bytes=1_000) == whole


def test_changed(place):
    place.put(ROWS)
    before = listed(place)
    assert listed(place) == before, "nobody has changed it"
    assert current_fingerprint(before) == before.fingerprint
    place.put(MORE)
    assert listed(place).fingerprint != before.fingerprint
    assert current_fingerprint(before) == listed(place).fingerprint


def test_changed_while_it_is_read(place, tmp_path, monkeypatch):
    """Never a half of each."""
    place.put(ROWS)
    file = listed(place)
    portions = reading.counted_portions

    def with_a_writer(*given):
        yield from portions(*given)
        monkeypatch.undo()
        place.put(MORE)

    if isinstance(place, Folder):
        monkeypatch.setattr(reading, "counted_portions", with_a_writer)
    table = scan(file, tmp_path, 1 << 20)
    assert (table.record.error, table.record.rows) == ("", MORE.num_rows if isinstance(place, Folder) else 4)
    assert table.record.fingerprint == current_fingerprint(file)


def test_vanished(place, tmp_path):
    place.put(ROWS)
    file = listed(place)
    place.remove()
    assert current_fingerprint(file) == ""
    assert not list_lake([Root.of(place.root)])
    with pytest.raises(VanishedTable):
        scan(file, tmp_path, 1 << 20)


@pytest.mark.parametrize(
    "place", [("folder", kind) for kind in KINDS], ids=[kind.name for kind in KINDS], indirect=True
)
class TestFiles:
    """What can happen to files of this machine alone."""

    def files(self, place: Folder) -> list[Path]:
        return sorted(place.path.rglob("*.parquet")) if place.path.is_dir() else [place.path]

    def test_permission_denied(self, place, tmp_path):
        place.put(ROWS)
        self.files(place)[-1].chmod(0)
        with as_nobody():
            file = listed(place)
            assert scan(file, tmp_path, 1 << 20).record.error == "permission denied"
        self.files(place)[-1].chmod(0o644)
        assert listed(place).fingerprint != file.fingerprint or listed(place).refused == ""
        assert scan(listed(place), tmp_path, 1 << 20).record.error == ""

    def test_cut_off(self, place, tmp_path):
        """What a writer that was interrupted leaves behind has a reason, or the rows that are whole."""
        place.put(ROWS)
        last = self.files(place)[-1]
        last.write_bytes(last.read_bytes()[: last.stat().st_size * 2 // 3])
        table = scan(listed(place), tmp_path, 1 << 20)
        text = place.kind.name in ("t.csv", "t.html")
        assert table.record.error.startswith("broken ") or (text and table.record.rows < 4)


def test_metadata_that_may_not_be_listed_is_reported(folder):
    place = Folder(folder, next(kind for kind in KINDS if kind.name == "iceberg"))
    place.put(ROWS)
    (place.path / "metadata").chmod(0)
    with as_nobody():
        found = list_lake([Root.of(place.root)])
    assert found["iceberg/metadata"].refused == "folder cannot be listed: Permission denied"


@pytest.mark.parametrize("place", [("folder", kind) for kind in KINDS if kind.name in ("hive", "delta", "iceberg")],
                         ids=["hive", "delta", "iceberg"], indirect=True)  # fmt: skip
def test_a_folder_that_may_not_be_listed_loses_no_rows(place, tmp_path):
    place.put(ROWS)
    inside = next(path for path in sorted(place.path.rglob("*")) if path.is_dir() and any(path.glob("*.parquet")))
    inside.chmod(0)
    with as_nobody():
        assert scan(listed(place), tmp_path, 1 << 20).record.error == "permission denied"


def test_one_index_of_all(folder, tmp_path):
    """Indexed, left alone, changed and removed, with the rows that went in."""
    places = [Folder(folder, kind) for kind in KINDS]
    for place in places:
        place.put(ROWS)
    to = tmp_path / "idx"
    with without_spark():
        assert dovetail.index(folder, to).added == len(places)
        lake = dovetail.open(to)
        assert not lake.skipped()
        columns = {name: sorted({plain(v) for v in ROWS[name].to_pylist()}, key=str) for name in ROWS.column_names}
        for place in places:
            found = lake.table(place.table)
            assert {column.name: column.distinct for column in found.columns} == {
                name: len([value for value in values if value != ""]) for name, values in columns.items()
            }, place.table
        assert dovetail.index(folder, to).unchanged == len(places)
        for place in places[1:]:
            place.put(MORE)
        places[0].remove()
        report = dovetail.index(folder, to)
        assert (report.changed, report.removed, report.unchanged) == (len(places) - 1, 1, 0)
        assert {found.rows for found in map(dovetail.open(to).table, (place.table for place in places[1:]))} == {5}
