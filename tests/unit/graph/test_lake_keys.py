"""Keys are found once for a generation, kept, and the same as found anew; a new generation reuses comparisons."""

from __future__ import annotations

import shutil

import pytest

from dovetail.api.lake import Lake
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph import lake_keys
from dovetail.graph.row_tuples import RowTuples
from dovetail.pipeline.maintain import remove_tables
from support.pipeline import index, without_spark

YEARS = [(year, f"club {n}") for year in range(1990, 2000) for n in range(8) if (year + n) % 5]
GAMES = "".join(f"g{n},{year},{club}\n" for n, (year, club) in enumerate(YEARS * 2))
FILES = {
    "teams.csv": "year,team,coach\n" + "".join(f"{y},{t},Coach {y % 3} of {t}\n" for y, t in YEARS),
    "games.csv": "game,year,team\n" + GAMES,
    "clubs.csv": "team,town\n" + "".join(f"club {n},Town {n}\n" for n in range(8)),
}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "dovetail"


@pytest.fixture
def lake(lake_of):
    return lake_of(FILES, one_by_one=True)


def answers(lake: Lake) -> tuple[object, ...]:
    return lake.foreign_keys(0).to_dicts(), lake.keys().to_dicts(), lake.graph(0.3).edges


def kept(folder) -> list[str]:
    return sorted(file.name for file in (folder / "answers").iterdir())


def add_table(folder, name: str) -> None:
    (folder / "lake" / name).write_text("match,year,team\n" + GAMES)
    with without_spark(1):
        index(folder / "lake", folder / "idx")


@pytest.fixture
def no_search(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the kept keys were not used")

    return lambda: monkeypatch.setattr(lake_keys, "find_keys", refuse)


def test_kept_keys_equal_those_found_anew(lake, tmp_path, no_search):
    first = answers(lake)
    assert any(len(row["dependent_columns"]) > 1 for row in first[0])
    (name,) = kept(tmp_path / "idx")
    assert name.startswith(f"keys-{lake.generation}-")
    no_search()
    assert answers(Lake(tmp_path / "idx")) == first


def test_a_new_generation_compares_only_what_is_new(lake, tmp_path, monkeypatch):
    before = answers(lake)
    add_table(tmp_path, "matches.csv")
    remove_tables(tmp_path / "idx", ["clubs.csv"])
    compared = []
    plain = RowTuples.overlap

    def watched(self, dependent, referenced):
        compared.append((dependent, referenced))
        return plain(self, dependent, referenced)

    monkeypatch.setattr(RowTuples, "overlap", watched)
    lake = Lake(tmp_path / "idx")
    updated = answers(lake)
    columns = LakeColumns(lake.segments)
    assert compared
    assert all("matches.csv" in _tables(columns, pairing) for pairing in compared)
    assert len(kept(tmp_path / "idx")) == 1, "those of the former generation are gone"
    shutil.rmtree(tmp_path / "idx" / "answers")
    compared.clear()
    assert answers(Lake(tmp_path / "idx")) == updated != before
    assert any("matches.csv" not in _tables(columns, pairing) for pairing in compared)


def _tables(columns, pairing) -> set[str]:
    return {columns.table_names[int(columns.table_of[side[0]])].as_py() for side in pairing}


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "folder"])
def test_damaged_keys_are_found_again(lake, tmp_path, damage):
    expected = answers(lake)
    (name,) = kept(tmp_path / "idx")
    file = tmp_path / "idx" / "answers" / name
    content = bytearray(file.read_bytes())
    if damage == "folder":
        file.unlink()
        file.mkdir()
    else:
        content[len(content) // 2] ^= 1
        file.write_bytes({"flipped": content, "cut": content[:-100], "empty": b""}[damage])
    assert answers(Lake(tmp_path / "idx")) == expected


def test_another_version_of_the_scores_is_not_read(lake, tmp_path, monkeypatch):
    answers(lake)
    monkeypatch.setattr(lake_keys, "SCORES_VERSION", 999)
    answers(Lake(tmp_path / "idx"))
    assert [name.split("-")[2] for name in kept(tmp_path / "idx")] == ["999"]


def test_a_read_only_index_is_kept_in_the_users_cache(lake, tmp_path, cache, no_search):
    (tmp_path / "idx" / "answers").write_text("in the way: as good as a read-only folder")
    gone = cache / "1234"
    gone.mkdir(parents=True)
    (gone / "index").write_text(str(tmp_path / "no such index"))
    expected = answers(lake)
    (folder,) = cache.iterdir()
    assert (folder / "index").read_text() == str(tmp_path / "idx"), "what belongs to no index any more is gone"
    no_search()
    assert answers(Lake(tmp_path / "idx")) == expected


def test_nowhere_to_keep_them(lake, tmp_path, cache):
    (tmp_path / "idx" / "answers").write_text("")
    cache.parent.write_text("")
    with pytest.warns(UserWarning, match="found again next time"):
        assert lake.foreign_keys(0).to_dicts()


def test_an_old_snapshot_keeps_nothing_beside_a_newer_one(lake, tmp_path):
    add_table(tmp_path, "matches.csv")
    answers(Lake(tmp_path / "idx"))
    names = kept(tmp_path / "idx")
    assert names[0].startswith(f"keys-{lake.generation + 1}-")
    answers(lake)
    assert kept(tmp_path / "idx") == names


def test_the_writer_leaves_kept_keys_alone(lake, tmp_path):
    answers(lake)
    names = kept(tmp_path / "idx")
    add_table(tmp_path, "matches.csv")
    assert kept(tmp_path / "idx") == names, "the next question reuses its comparisons"


def test_keys_of_some_tables(lake):
    every = lake.foreign_keys(0).to_dicts()
    some = lake.foreign_keys(0, tables="clubs.*").to_dicts()
    assert some == [row for row in every if "clubs.csv" in (row["dependent_table"], row["referenced_table"])]
    assert {row["table"] for row in lake.keys(tables="teams.csv").to_dicts()} == {"teams.csv"}
    assert len(lake.foreign_keys(0, tables="none")) == 0


def test_progress_is_told(lake):
    told = []
    lake.foreign_keys(progress=lambda *step: told.append(step))
    assert {stage for stage, _, _ in told} == {"merging values", "comparing columns", "comparing rows"}
    assert all(0 <= done <= total for _, done, total in told)


def test_a_change_of_scores_has_a_new_version(shop):
    """Where this fails, raise SCORES_VERSION: kept answers of older scores must not be read."""
    rows = shop.foreign_keys(0).to_dicts()
    assert lake_keys.SCORES_VERSION == 4
    assert [row["score"] for row in rows] == [0.9715, 0.9565, 0.0059]
    assert [row["score"] for row in shop.keys().to_dicts()[:3]] == [0.8393, 0.7357, 0.7295]


def test_readable_answers(shop):
    text = repr(shop.foreign_keys())
    assert text.splitlines()[0] == f"<{len(shop.foreign_keys())} likely foreign keys>"
    assert "  0." in text
    assert "orders.csv (customer_id) → customers.csv (customer_id)" in text
    assert "customers.csv (customer_id)" in repr(shop.keys())
    for answer in (shop.foreign_keys(0), shop.keys(), shop.inds(integers=True), shop.graph()):
        assert len(repr(answer)) < 2000
        assert "<table>" in answer._repr_html_()
