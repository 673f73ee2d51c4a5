"""Which dependencies are meant: scores, and the reasons for them."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.evidence.lake_columns import LakeColumns
from dovetail.evidence.names import words
from dovetail.evidence.reference_kernels import PAIR_FEATURES, measure_pairs
from dovetail.evidence.references import REFERENCE_FEATURES
from dovetail.graph.inclusion import ColumnPairs
from dovetail.graph.score import CALLED, Scorer, as_probability, inclusion_log_odds


def ends(row) -> tuple[str, ...]:
    return (
        row["dependent_table"], row["dependent_columns"][0], row["referenced_table"], row["referenced_columns"][0],
    )  # fmt: skip


def test_the_foreign_keys_of_a_shop_come_first(shop):
    rows = shop.foreign_keys(min_score=0).to_dicts()
    assert {ends(row) for row in rows[:2]} == {
        ("orders.csv", "customer_id", "customers.csv", "customer_id"),
        ("customers.csv", "country", "countries.csv", "code"),
    }
    assert all(row["score"] > 0.9 for row in rows[:2])
    assert all(row["score"] < 0.5 for row in rows[2:]), "what only looks so is unlikely"


def test_reasons_say_what_a_person_can_check(shop):
    row = next(row for row in shop.foreign_keys().to_dicts() if ends(row)[0] == "orders.csv")
    assert row["reasons"] == [
        "all 9 values occur among its 9",
        "named after customer_id or its table",
        "customer_id is the first key of its table",
        "many to one: 30 rows have customer_id",
    ]


def test_a_key_of_its_own_table_refers_to_nothing(lake_of):
    lake = lake_of(
        {
            "people.csv": "person_id,name\n" + "".join(f"{n},Person {n}\n" for n in range(1, 9)),
            "pets.csv": "pet_id,owner of pet\n" + "".join(f"{n},{n % 4 + 1}\n" for n in range(1, 20)),
        }
    )
    best = lake.foreign_keys(min_score=0).to_dicts()
    assert ends(best[0])[:2] == ("pets.csv", "owner of pet")
    assert next(row["score"] for row in best if ends(row)[:2] == ("people.csv", "person_id")) < 0.5


def test_numbers_of_hundreds_of_digits(lake_of):
    numbers = [str(n) * 300 for n in range(1, 8)]
    files = {name: "long_id,k\n" + "".join(f"{n},{name}{n[:1]}\n" for n in numbers) for name in ("a.csv", "b.csv")}
    assert lake_of(files).foreign_keys(min_score=0).to_dicts()[0]["containment"] == 1


def test_dependencies_that_break_here_and_there(lake_of):
    values = [f"code {n}" for n in range(100)]
    used = [*values[:60], "lost", "gone"] * 2
    lake = lake_of(
        {
            "things.csv": "thing_code,more\n" + "".join(f"{value},{n}th\n" for n, value in enumerate(values)),
            "uses.csv": "n,thing_code\n" + "".join(f"{n}x,{v}\n" for n, v in enumerate(used)),
        }
    )
    row = lake.foreign_keys().to_dicts()[0]
    assert ends(row) == ("uses.csv", "thing_code", "things.csv", "thing_code")
    assert row["containment"] == pytest.approx(60 / 62)
    assert row["reasons"][0] == "60 of 62 values occur among its 100"


TEAMS = [(year, f"club {n}") for year in range(1990, 2000) for n in range(8) if (year + n) % 5]
SEASONS = {
    "teams.csv": "year,team,coach\n" + "".join(f"{y},{t},Coach {y % 3} of {t}\n" for y, t in TEAMS),
    "games.csv": "game,season year,home team,away team\n"
    + "".join(f"g{n},{y},{t},{TEAMS[7 * n % len(TEAMS)][1]}\n" for n, (y, t) in enumerate(TEAMS * 3)),
}


def test_keys_of_several_columns(lake_of):
    rows = lake_of(SEASONS).foreign_keys().to_dicts()
    row = next(row for row in rows if len(row["dependent_columns"]) > 1)
    assert (row["dependent_table"], row["dependent_columns"]) == ("games.csv", ["season year", "home team"])
    assert (row["referenced_table"], row["referenced_columns"]) == ("teams.csv", ["year", "team"])
    assert (row["containment"], row["coverage"]) == (1, 1)
    assert row["reasons"][0] == f"all {len(TEAMS)} combinations occur among its {len(TEAMS)}"
    assert "year, team together" in row["reasons"][2]


def test_columns_of_a_key_on_the_path(lake_of):
    (path, *_) = lake_of(SEASONS).graph().paths("games.csv", "teams.csv", hops=1)
    assert 't0."season year" = t1."year" AND lower(trim(CAST(t0."home team" AS VARCHAR)))' in path.sql()


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("ArtistId", ["artist", "id"]),
        ("artist_ids", ["artist", "ids"]),
        ("teamIDwinner", ["team", "id", "winner"]),
        ("countries", ["country"]),
        ("ISO3166-1-Alpha-3", ["iso", "3166", "1", "alpha", "3"]),
        ("Straße Nr.", ["straße", "nr"]),
        ("address", ["address"]),
    ],
)
def test_words_of_names(name, found):
    assert words(name) == found


def test_a_column_refers_to_one_column_of_a_table(lake_of):
    lake = lake_of(
        {
            "chapters.csv": "chapter_id,number\n" + "".join(f"{n},{n + 1}\n" for n in range(1, 30)),
            "pages.csv": "page,chapter_id\n" + "".join(f"p{n},{n % 28 + 2}\n" for n in range(90)),
        }
    )
    rows = lake.foreign_keys(min_score=0).to_dicts()
    assert [ends(row)[2:] for row in rows if ends(row)[0] == "pages.csv"] == [("chapters.csv", "chapter_id")]


def test_a_copy_of_the_key_in_its_own_table_is_no_foreign_key(lake_of):
    people = [(f"p{n}", f"p{n}", f"p{n // 3}") for n in range(60)]
    lake = lake_of({"people.csv": "id,label,boss\n" + "".join(",".join(row) + "\n" for row in people)})
    scores = {ends(row)[1]: row["score"] for row in lake.foreign_keys(min_score=0).to_dicts()}
    assert scores["boss"] > scores["label"] + 0.2


def test_a_key_that_others_refer_to_by_name(lake_of):
    """The tables know people by their login, though a number comes first."""
    files = {"people.csv": "n,login\n" + "".join(f"{n},user{n}\n" for n in range(40))}
    few = {"posts.csv": "post,login\n" + "".join(f"x{n},user{n % 9}\n" for n in range(30))}
    more = {f"log{k}.csv": f"entry{k},login\n" + "".join(f"{k}e{n},user{n % 7}\n" for n in range(20)) for k in range(4)}

    def score(lake) -> tuple[float, list[str]]:
        rows = lake.foreign_keys(min_score=0).to_dicts()
        return next(
            (r["score"], r["reasons"]) for r in rows if ends(r) == ("posts.csv", "login", "people.csv", "login")
        )

    alone = score(lake_of(files | few, folder="alone"))
    among = score(lake_of(files | few | more, folder="among"))
    assert among[0] > alone[0] + 0.1
    assert "login is not the first key of its table" in alone[1]
    assert "login repeats no value, and by its name it is the key" in among[1]


def test_key_candidates_of_a_shop(shop):
    rows = shop.keys().to_dicts()
    assert [(row["table"], row["columns"]) for row in rows[:3]] == [
        ("customers.csv", ["customer_id"]),
        ("orders.csv", ["order_id"]),
        ("countries.csv", ["code"]),
    ]
    assert rows[0]["reasons"] == [
        "9 rows, each with a value of its own",
        "the first key of its table",
        "1 likely foreign key refers to it",
        "named like its table or like a key",
    ]
    assert all("stars" not in row["columns"] and "country" not in row["columns"] for row in rows), "they repeat values"
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)


def test_key_candidates_of_several_columns(lake_of):
    rows = lake_of(SEASONS).keys().to_dicts()
    row = next(row for row in rows if row["table"] == "teams.csv")
    assert (row["columns"], row["distinct"]) == (["year", "team"], len(TEAMS))
    assert row["reasons"][0] == f"{len(TEAMS)} rows, each with a combination of its own"


def numbered(name: str, rows: int, *more: tuple[str, int]) -> str:
    """A table whose key is 1, 2, 3, …, with columns of smaller numbers."""
    head = ",".join([name, "label", *(column for column, _ in more)])
    lines = (
        ",".join([str(n), f"{name} {n} of all", *(str(n * 7 % most + 1) for _, most in more)])
        for n in range(1, rows + 1)
    )
    return "\n".join([head, *lines]) + "\n"


def best_target(lake, table: str, column: str) -> tuple[str, str, float]:
    rows = [row for row in lake.foreign_keys(min_score=0).to_dicts() if ends(row)[:2] == (table, column)]
    return (*ends(rows[0])[2:], rows[0]["score"])


def test_names_decide_where_all_ids_are_small_numbers(lake_of):
    """The tables share a prefix, words are written together, and ids do not come first."""
    lake = lake_of(
        {
            "dcim_site.csv": numbered("id", 30),
            "dcim_devicetype.csv": numbered("id", 25),
            "dcim_device.csv": numbered("id", 60, ("site_id", 20), ("device_type_id", 19)),
            "dcim_rack.csv": numbered("id", 40, ("site_id", 20)),
            "auth_department.csv": numbered("id", 21),
            "auth_user.csv": numbered("id", 50, ("dep_id", 18)),
        }
    )
    assert best_target(lake, "dcim_device.csv", "site_id")[:2] == ("dcim_site.csv", "id")
    assert best_target(lake, "dcim_device.csv", "device_type_id")[:2] == ("dcim_devicetype.csv", "id")
    assert best_target(lake, "auth_user.csv", "dep_id")[:2] == ("auth_department.csv", "id")


def test_nobody_refers_to_row_numbers(lake_of):
    lake = lake_of(
        {
            "wages.csv": numbered("rownames", 90),
            "crimes.csv": numbered("rownames", 70, ("wage", 60)),
            "years.csv": numbered("rownames", 80, ("wage", 50)),
        }
    )
    rows = [row for row in lake.foreign_keys(min_score=0).to_dicts() if ends(row)[3] == "rownames"]
    assert rows
    assert all(row["score"] < 0.1 for row in rows)


def test_a_column_refers_to_one_thing(lake_of):
    values = [f"k{n}" for n in range(30)]
    table = "code,more{0}\n" + "".join(f"{value},{{0}} of {value}\n" for value in values)
    files = {f"codes{n}.csv": table.format(n) for n in range(3)}
    lake = lake_of(files | {"uses.csv": "n,code\n" + "".join(f"u{n},{values[n % 30]}\n" for n in range(90))})
    scores = [row["score"] for row in lake.foreign_keys(min_score=0).to_dicts() if ends(row)[0] == "uses.csv"]
    assert len(scores) == 3
    assert sum(scores) <= 1.001


def test_paths_use_likely_keys_only(lake_of):
    """Tennis players and currencies have a column of hands and symbols in common, by chance."""
    lake = lake_of(
        {
            "players.csv": "player,hand\n" + "".join(f"Player {n},{'RLU'[n % 3]}\n" for n in range(60)),
            "currencies.csv": "symbol,currency\n" + "".join(f"{c},Money of {c}\n" for c in "RLUKZ"),
        }
    )
    assert lake.foreign_keys(min_score=0).to_dicts(), "there is a dependency"
    assert not lake.graph().paths("players.csv", "currencies.csv")


def test_kernel_equals_its_plain_form(shop):
    """All pairs of columns, by features and by log-odds."""
    columns = LakeColumns(shop.segments)
    one, other = (array.ravel() for array in np.indices((len(columns), len(columns))))
    scorer = Scorer(columns, columns.distinct)
    pairs = ColumnPairs(one, other, np.minimum(columns.distinct[one], columns.distinct[other]))
    features = scorer.features(pairs)
    assert features.shape == (len(one), len(REFERENCE_FEATURES))
    assert scorer.scores(pairs) == pytest.approx(as_probability(inclusion_log_odds(features)))
    assert scorer.called(pairs) == pytest.approx(features[:, CALLED])
    compiled, plain = scorer.features(pairs), _plain(scorer, pairs)
    assert plain == pytest.approx(compiled)


def _plain(scorer: Scorer, pairs: ColumnPairs) -> np.ndarray:
    columns = scorer.references.feature("called").columns
    rows = np.empty((len(pairs), len(PAIR_FEATURES)))
    measure_pairs.py_func(pairs.dependent, pairs.referenced, pairs.overlap, columns, rows)
    return np.concatenate([scorer.features(pairs)[:, : -len(PAIR_FEATURES)], rows], axis=1)
