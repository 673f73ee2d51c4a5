"""With nothing said, the join that a person would accept is made, or none. Tables are made up."""

from __future__ import annotations

import random

import pytest

import dovetail

FIRST = ["Ada", "Bert", "Carla", "Dora", "Emil", "Fred", "Greta", "Hans", "Ida", "Jan", "Karl", "Lena"]
LAST = ["Adler", "Brandt", "Conrad", "Dietz", "Ebert", "Fischer", "Gruber", "Heinz", "Illner", "Jung"]
CITIES = [
    "Amsterdam", "Barcelona", "Copenhagen", "Dortmund", "Edinburgh", "Frankfurt", "Gothenburg", "Helsinki", "Istanbul",
    "Jerusalem", "Karlsruhe", "Ljubljana", "Marseille", "Nuremberg", "Oslo", "Palermo", "Rotterdam", "Stuttgart",
    "Thessaloniki", "Utrecht", "Valencia", "Wroclaw", "Zagreb", "Zaragoza",
]  # fmt: skip
PARTIES = ["Greens", "Liberals", "Labour"]


def people(number: int, seed: int) -> list[tuple[str, str]]:
    draw = random.Random(seed)
    return draw.sample([(first, last) for first in FIRST for last in LAST], number)


def misspelt(text: str) -> str:
    """With two neighbouring letters swapped."""
    middle = len(text) // 2
    return text[: middle - 1] + text[middle] + text[middle - 1] + text[middle + 1 :]


@pytest.fixture
def orders() -> dict[str, list[object]]:
    draw = random.Random(1)
    return {
        "order_id": list(range(1, 201)),
        "customer_id": [draw.randint(1, 40) for _ in range(200)],
        "amount": [round(draw.uniform(5, 500), 2) for _ in range(200)],
    }


@pytest.fixture
def customers() -> dict[str, list[object]]:
    return {"customer_id": list(range(1, 41)), "name": [" ".join(each) for each in people(40, 2)]}


def test_a_lookup_is_found_among_row_numbers(orders, customers):
    joined = dovetail.join(orders, customers)
    assert joined.on == (("customer_id", "customer_id"),)
    assert joined.rows == 200
    assert joined.probability is not None and joined.probability > 0.5


def test_names_written_differently_beat_equal_parties():
    """Each row has many partners by its party, and one by its name."""
    holders = people(60, 3)
    draw = random.Random(4)
    parties = [draw.choice(PARTIES) for _ in holders]
    left = {"name": [f"{first} {last}" for first, last in holders], "party": parties}
    right = {"member": [f"{last}, {first}" for first, last in holders], "party": parties, "seat": list(range(60))}
    joined = dovetail.join(left, right)
    assert joined.by in ("transform", "similar")
    assert joined.rows == 60
    assert any("party" in other.condition for other in joined.runners_up)


def test_similar_names_beat_row_numbers():
    left = {"id": list(range(len(CITIES))), "city": CITIES}
    shuffled = random.Random(5).sample(CITIES, len(CITIES))
    right = {"id": list(range(len(CITIES))), "town": [misspelt(city) for city in shuffled]}
    joined = dovetail.join(left, right)
    assert joined.by in ("similar", "transform")
    rows = joined.pairs.to_pylist()
    right_pairs = sum(CITIES[row["left_row"]] == shuffled[row["right_row"]] for row in rows)
    assert right_pairs == len(rows) >= 0.8 * len(CITIES)


def test_strangers_are_left_alone(orders):
    """An order's number equals the height of an island by chance."""
    draw = random.Random(6)
    islands = {
        "rank": list(range(1, 31)),
        "island": [f"{city} Rock" for city in CITIES] + ["Sark", "Herm", "Lihou", "Jethou", "Brecqhou", "Alderney"],
        "height": [draw.randint(1, 180) for _ in range(30)],
    }
    joined = dovetail.join(orders, islands)
    assert joined.rows == 0
    assert joined.sentence.startswith("Nothing joins.")
    assert joined.probability is None


def test_what_was_considered_is_told(orders, customers):
    report = dovetail.join(orders, customers).report
    assert report["probability"] > 0.5
    for other in report["runners_up"]:
        assert other["probability"] <= report["probability"]
        assert set(other) == {
            "by", "left_columns", "right_columns", "condition", "probability", "reasons", "objections", "pairs",
            "matched_left", "matched_right",
        }  # fmt: skip


def test_a_join_says_why_and_the_others_why_not(orders, customers):
    joined = dovetail.join(orders, customers)
    assert "customer_id" in joined.why
    assert f"Likely right: {joined.probability:.0%}." in joined.why
    assert any(other.clauses[1] for other in joined.runners_up)


def test_equal_columns_are_joined_if_asked_for_however_unlikely(orders):
    other = {"rank": list(range(1, 31)), "height": list(range(100, 130))}
    joined = dovetail.join(orders, other, by="equal")
    assert joined.rows > 0


def test_a_document_in_a_cell_costs_neither_time_nor_memory():
    """Learning looks at all parts of a value, whose number grows with the square of its length."""
    text = " ".join(random.Random(7).choices(FIRST + LAST, k=5_000))
    left = {"id": [1, 2, 3, 4], "about": [f"{text} {name}" for name in FIRST[:4]]}
    right = {"name": FIRST[:8], "text": [f"{name} {text}" for name in FIRST[:8]]}
    assert dovetail.join(left, right, seconds=5).seconds < 30


def test_similar_codes_are_other_codes():
    """N818MQ and N818UA are two planes."""
    airlines = ("MQ", "UA", "AA", "WN")
    tails = [f"N{100 + number % 30}{airlines[number // 30]}" for number in range(120)]
    draw = random.Random(8)
    flights = {"tailnum": [draw.choice(tails[:100]) for _ in range(150)], "hour": [n % 24 for n in range(150)]}
    planes = {"tailnum": tails[20:], "seats": [50 + number for number in range(100)]}
    joined = dovetail.join(flights, planes)
    assert (joined.by, joined.on) == ("equal", (("tailnum", "tailnum"),))
    assert joined.rows == sum(tail in tails[20:] for tail in flights["tailnum"])


def test_equal_texts_join_as_equal_whatever_the_method():
    joined = dovetail.join({"town": CITIES}, {"place": [*CITIES[:-1], misspelt(CITIES[-1])]}, by="similar")
    origins = joined.pairs["origin"].to_pylist()
    assert origins.count("equal") == len(CITIES) - 1
    assert origins.count("similar") == 1
    assert joined.pairs["similarity"].to_pylist()[0] == 1


@pytest.mark.parametrize("seed", range(4))
def test_a_program_that_makes_every_key_beats_similar_names(seed):
    """`Oslo, Ada` is similar to `A. Oslo`, but not much less to `B. Oslo`."""
    firsts = [
        "Ada",
        "Adele",
        "Alan",
        "Barbara",
        "Bjarne",
        "Dennis",
        "Donald",
        "James",
        "John",
        "Linus",
        "Leslie",
        "Tony",
    ]
    names = random.Random(seed).sample([(first, last) for first in firsts for last in CITIES], 30)
    left = {"name": [f"{last}, {first}" for first, last in names]}
    right = {"author": sorted(f"{first[0]}. {last}" for first, last in names)}
    joined = dovetail.join(left, right)
    assert (joined.by, joined.matched_left, joined.matched_right) == ("transform", 30, 30)


@pytest.mark.parametrize("options", [{"by": "transform"}, {}])
def test_where_the_cheapest_program_is_rejected_the_next_is_taken(options):
    """All examples have numbers of three digits that begin with 1; a program that cuts these is cheapest."""
    numbered = [(*names, number) for number, names in enumerate(people(30, 0), start=95)]
    left = {"name": [f"{first} {last} {number}" for first, last, number in numbered]}
    right = {"tag": [f"{first[0]}{last[0]}{number}" for first, last, number in reversed(numbered)]}
    joined = dovetail.join(left, right, **options)
    pairs = zip(joined.pairs["left_row"].to_pylist(), joined.pairs["right_row"].to_pylist(), strict=True)
    assert list(pairs) == [(row, 29 - row) for row in range(30)]
