"""`verify` finds any flipped byte, any missing file and any reference that leads nowhere."""

from __future__ import annotations

import shutil

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dovetail._storage.directory import newest_manifest, open_snapshot
from dovetail._storage.sealed import checksum_of, seal, unseal
from dovetail.catalog.records import CatalogReader
from dovetail.errors import FormatMismatch, NotAnIndex
from dovetail.indexes import verify
from dovetail.indexes.verify import verify_index
from support.pipeline import index, without_spark


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verify")
    (folder / "lake").mkdir()
    (folder / "lake" / "a.csv").write_text("id,name\n1,x\n2,y\n")
    (folder / "lake" / "b.csv").write_text("id\n1\n")
    (folder / "lake" / "empty.csv").write_text("")
    with without_spark():
        index(folder / "lake", folder / "idx")
    return folder / "idx"


@pytest.fixture
def copy(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "idx")


def test_a_whole_index(whole):
    found = verify_index(whole)
    assert found.problems == ()
    assert (found.segments, found.tables) == (1, 3)
    assert found.bytes == sum(file.stat().st_size for file in whole.rglob("*.dvt"))


@pytest.mark.parametrize("name", ["catalog.dvt", "tokens.dvt", "segment.json", "manifest", "dovetail-index.json"])
def test_every_flipped_byte_is_found(copy, name):
    (file,) = copy.rglob(f"{name}*")
    data = bytearray(file.read_bytes())
    # Every byte of the small files; of those that take kilobytes, every seventh.
    for place in range(0, len(data), 7 if name in ("catalog.dvt", "manifest") else 1):
        data[place] ^= 0x10
        file.write_bytes(data)
        problems = verify_index(copy).problems
        assert problems, f"byte {place} of {name}"
        assert name in " ".join(problems)
        data[place] ^= 0x10
    file.write_bytes(data)
    assert verify_index(copy).problems == ()


@pytest.mark.parametrize("name", ["catalog.dvt", "tokens.dvt", "segment.json"])
@pytest.mark.parametrize("what", ["missing", "cut off", "empty"])
def test_missing_and_cut_off_files_are_named(copy, name, what):
    (file,) = copy.rglob(name)
    data = file.read_bytes()
    if what == "missing":
        file.unlink()
    else:
        file.write_bytes(data[:-7] if what == "cut off" else b"")
    problems = verify_index(copy).problems
    assert len(problems) == 1
    assert name in problems[0]


def test_all_damage_is_named_at_once(whole, tmp_path):
    shutil.copytree(whole.parent / "lake", tmp_path / "lake")
    shutil.copytree(whole, tmp_path / "idx")
    (tmp_path / "lake" / "c.csv").write_text("id\n7\n")
    with without_spark():
        index(tmp_path / "lake", tmp_path / "idx", add=True)
    files = sorted((tmp_path / "idx").rglob("tokens.dvt"))
    assert len(files) == 2
    for file in files:
        data = bytearray(file.read_bytes())
        data[100] ^= 1
        file.write_bytes(data)
    problems = verify_index(tmp_path / "idx").problems
    assert [any(file.parent.name in problem for problem in problems) for file in files] == [True, True]


def with_manifest(copy, change):
    """Write the manifest anew with every checksum right."""
    manifest = newest_manifest(copy)
    body = manifest.to_json()
    change(body)
    (copy / f"manifest-{manifest.generation}.json").write_bytes(seal(body))


def twice(body):
    body["segments"] *= 2


def other_tables(body):
    body["segments"][0]["tables"] = 9


def dead_beyond(body):
    body["segments"][0]["dead"] = [3]


def too_many(body):
    body["statistics"]["tables"] = 5


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (twice, "table a.csv is alive 2 times"),
        (other_tables, "speaks of other tables"),
        (dead_beyond, "speaks of other tables"),
        (too_many, "states 5 tables, the segments hold 2"),
    ],
)
def test_a_manifest_that_does_not_fit_is_found(copy, change, said):
    with_manifest(copy, change)
    assert any(said in problem for problem in verify_index(copy).problems)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("rows", "not those that the sets count"),
        ("distinct", "not the sizes of the sets"),
        ("table", "do not belong to its tables"),
    ],
)
def test_a_catalog_that_does_not_fit_its_sets_is_found(whole, monkeypatch, column, said):
    class Altered(CatalogReader):
        def __init__(self, pack):
            super().__init__(pack)
            place = self.columns.schema.get_field_index(column)
            more = pc.add(self.columns[column], 1).cast(pa.int64())
            self.columns = self.columns.set_column(place, column, more)

    monkeypatch.setattr(verify, "CatalogReader", Altered)
    assert any(said in problem for problem in verify_index(whole).problems)


def test_a_manifest_under_another_name_is_found(copy):
    generation = newest_manifest(copy).generation
    (copy / f"manifest-{generation}.json").rename(copy / f"manifest-{generation + 1}.json")
    assert any("generation" in problem for problem in verify_index(copy).problems)


def test_an_unknown_version_of_a_part_is_refused_by_name(copy, monkeypatch):
    """The description and the pack agree; it is this Dovetail that knows another version."""
    from dovetail.catalog import records
    from dovetail.indexes.tokens import format as tokens_format

    for module, name in ((tokens_format, "tokens"), (records, "catalog")):
        with monkeypatch.context() as patch:
            known = module.VERSION
            patch.setattr(module, "VERSION", known + 1)
            said = f"{name}.dvt holds {name} version {known}; this Dovetail reads {name} version {known + 1}"
            assert any(said in problem for problem in verify_index(copy).problems)


def test_a_part_that_the_description_leaves_out_is_named(copy):
    ref = newest_manifest(copy).segments[0]
    file = copy / "segments" / ref.id / "segment.json"
    body = unseal(file.read_bytes(), "")
    del body["parts"]["tokens"]
    file.write_bytes(seal(body))
    with_manifest(copy, lambda manifest: manifest["segments"][0].update(checksum=checksum_of(seal(body))))
    assert any("has no tokens" in problem for problem in verify_index(copy).problems)
    with pytest.raises(FormatMismatch, match="has no tokens"):
        open_snapshot(copy).segments[0].pack("tokens")


def test_no_index_and_another_normaliser(tmp_path, copy):
    with pytest.raises(NotAnIndex):
        verify_index(tmp_path)
    with_manifest(copy, lambda body: body.update(normaliser=99))
    with pytest.raises(FormatMismatch, match="normaliser 99"):
        verify_index(copy)
