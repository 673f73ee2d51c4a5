"""Cells that hold several values: which do, and that their joins by parts equal plain loops."""

from __future__ import annotations

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail
from dovetail.errors import InputError
from dovetail.normalise.parts import LIST, find_separator, split_cells

GENRES = ("drama", "comedy", "crime", "horror", "science fiction", "western", "musical")
FILMS = {
    "title": ["Alien", "Heat", "Big", "Up", "Drive", "Solaris", "It", "Ran", "Nothing", "Else"],
    "genres": ["Horror; Science Fiction", "crime; drama", "comedy", "Comedy;drama", "drama; crime; drama",
               "science fiction", "horror", "drama", None, "silent; film"],
}  # fmt: skip
SHELVES = {"genre": [name.title() for name in GENRES], "shelf": [f"S{n}" for n in range(len(GENRES))]}


@pytest.mark.parametrize(
    ("cells", "separator"),
    [
        (["drama; crime", "crime; drama", "comedy; drama", "drama"], ";"),
        (["drama|crime", "crime|drama", "comedy|drama", "drama"], "|"),
        (["utah, colorado", "colorado", "nevada, utah", "utah", "texas, nevada"], ","),
        (["3, 12", "12, 7", "7, 3", "3"], ","),
        (['["a", "b"]', '["b"]', '["c", "a"]'], LIST),
        (
            ["springfield, illinois", "chicago, illinois", "portland, oregon", "salem, oregon"],
            None,
        ),  # a place in a place
        (["toronto, on", "etobicoke, toronto, on", "oakville, on", "ottawa, on"], None),
        (["1,2-dichloroethane", "2,1-propanol", "1,1-diol", "2,2-diol", "1,2-diol"], None),
        (["6-3, 6-4", "6-4, 6-3", "6-3, 7-5", "7-5, 6-3"], None),  # scores
        (["f(a, b)", "f(b, a)", "g(a, b)", "g(b, a)"], None),
        (["born in rome; moved on", "lived in bonn; was a smith", "had a dog; no cat"], None),
        (["[5]", "[6]", "[43]"], None),  # notes
        (["drama; crime", "crime"], None),  # too few to tell
        (["drama", "crime"], None),
        ([], None),
    ],
)
def test_separators_are_recognised_where_parts_change_places(cells: list[str], separator: str | None) -> None:
    assert find_separator(pa.array(cells, pa.large_string())) == separator


def test_recognition_does_not_depend_on_the_order_of_cells() -> None:
    cells = [f"{one}; {other}" for one in GENRES * 12 for other in GENRES] + [
        f"note {n}; of {n + 1}" for n in range(900)
    ]
    distinct = sorted(set(cells))
    found = {find_separator(pa.array(order, pa.large_string())) for order in (distinct, distinct[::-1])}
    assert len(found) == 1


def test_parts_have_the_type_of_all_of_them() -> None:
    parts = split_cells(pa.array(["1; 2.0", "2;3", " ; n/a", "3"], pa.large_string()), ";")
    found = [[parts.tokens[int(code)].as_py() for code in parts.codes[a:b]]
             for a, b in zip(parts.starts, parts.starts[1:], strict=False)]  # fmt: skip
    assert parts.type.kind == "integer"
    assert found == [["1", "2"], ["2", "3"], [], ["3"]]


def test_a_join_by_parts_is_chosen_and_says_why() -> None:
    found = dovetail.join(pd.DataFrame(FILMS), pd.DataFrame(SHELVES))
    assert found.by == "parts"
    assert found.why.startswith("Cells of left_table.genres hold several values, separated by ';'.")
    assert found.sentence.startswith("12 rows: inner join on genres = genre (parts of cells), N:M.")
    rows = found.frame[["title", "genres", "genre"]].to_dict("records")
    assert rows[0] == {"title": "Alien", "genres": "Horror; Science Fiction", "genre": "Horror"}  # the cell is kept
    assert len(found.frame[found.frame.title == "Drive"]) == 2  # a part counts once
    other_way = dovetail.join(pd.DataFrame(SHELVES), pd.DataFrame(FILMS))
    assert (other_way.by, other_way.rows) == ("parts", 12)


def test_kinds_of_joins_are_about_rows_not_parts() -> None:
    films, shelves = pd.DataFrame(FILMS), pd.DataFrame(SHELVES)
    rows = {how: dovetail.join(films, shelves, on=("genres", "genre"), how=how, by="parts").rows
            for how in ("inner", "left", "right", "outer", "semi", "anti")}  # fmt: skip
    assert rows == {"inner": 12, "left": 14, "right": 14, "outer": 16, "semi": 8, "anti": 2}


def test_columns_that_are_given_join_by_parts_if_that_is_asked_for() -> None:
    films, shelves = pd.DataFrame(FILMS), pd.DataFrame(SHELVES)
    given = dovetail.join(films, shelves, on=("genres", "genre"))
    assert (given.by, given.rows) == ("equal", 4)
    assert "Cells of left_table.genres hold several values, separated by ';'. `by='parts'` joins each" in given.why
    assert dovetail.join(films, shelves, on=("genres", "genre"), by="parts").rows == 12
    nothing = dovetail.join(films, shelves, on=("title", "shelf"), by="parts")
    assert (nothing.rows, nothing.why) == (0, "Cells of neither column hold several values.")


def test_columns_of_lists_in_parquet_join_by_parts(tmp_path) -> None:
    lists = [None if cell is None else [part.strip() for part in cell.split(";")] for cell in FILMS["genres"]]
    pq.write_table(pa.table({"title": FILMS["title"], "genres": lists}), tmp_path / "films.parquet")
    found = dovetail.join(tmp_path / "films.parquet", pd.DataFrame(SHELVES))
    assert (found.by, found.rows) == ("parts", 12)
    assert "as JSON lists" in found.why


def test_several_pairs_are_refused() -> None:
    with pytest.raises(InputError, match="joins on one pair of columns; `on` names several"):
        dovetail.join(FILMS, SHELVES, on=["genres=genre", "title=shelf"], by="parts")


words = st.sampled_from(["ab", "Cd", "EF g", "hij", "k", "lmn o"])
cell = st.one_of(st.none(), st.lists(words, min_size=1, max_size=4))


@settings(max_examples=40)
@given(st.lists(cell, min_size=1, max_size=12), st.lists(st.one_of(st.none(), words), min_size=1, max_size=8),
       st.sampled_from(["; ", "|", " , ", "json"]))  # fmt: skip
def test_joins_by_parts_equal_loops(cells, values, separator) -> None:
    # Cells that make the separator plain, whatever else there is.
    cells = [["ab", "k"], ["k", "hij"], ["hij", "ab"], ["k", "ab"], ["ab", "hij"], ["hij", "k"], *cells]
    mine = [
        None if each is None else json.dumps(each) if separator == "json" else separator.join(each) for each in cells
    ]
    found = dovetail.join({"tags": mine}, {"tag": [*values, "zzz"]}, on=("tags", "tag"), by="parts")
    wanted = {
        (row, other)
        for row, parts in enumerate(cells)
        for other, value in enumerate(values)
        if parts and value and value.casefold() in {part.casefold() for part in parts}
    }
    assert list(zip(found.matches.left.tolist(), found.matches.right.tolist(), strict=True)) == sorted(wanted)
