"""The four synthetic pairs of tables of the paper's section 4.7.1, generated from their description."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

Columns = dict[str, list[str | None]]
Case = tuple[Columns, Columns, set[tuple[int, int]]]
_SYLLABLES = ["ka", "ro", "mi", "ten", "sa", "bur", "lo", "vin", "ha", "dor", "el", "quist", "ny", "tra", "gu", "wes"]


def word(draw: random.Random, least: int = 2, most: int = 4) -> str:
    return "".join(draw.choice(_SYLLABLES) for _ in range(draw.randint(least, most)))


def case_of(draw: random.Random, source: Columns, target: Sequence[str], name: str) -> Case:
    """The target's rows in another order; rows of equal values all join."""
    order = list(range(len(target)))
    draw.shuffle(order)
    places: dict[str, list[int]] = {}
    for place, row in enumerate(order):
        places.setdefault(target[row], []).append(place)
    truth = {(row, place) for row, value in enumerate(target) for place in places[value]}
    return source, {name: [target[row] for row in order]}, truth


def user_id(rows: int, draw: random.Random) -> Case:
    """First, middle and last name; the login is the first letter of the first name and the last name's first seven."""
    names = {(word(draw), word(draw), word(draw, 2, 5)) for _ in range(rows)}
    by_login = {first[:1] + last[:7]: (first, middle, last) for first, middle, last in sorted(names)}
    people = list(by_login.values())
    source: Columns = {
        column: [person[place].title() for person in people] for place, column in enumerate(("first", "middle", "last"))
    }
    return case_of(draw, source, list(by_login), "login")


def time_of_day(rows: int, draw: random.Random) -> Case:
    """Hours, minutes and seconds in columns; together with colons in the other table."""
    moments = sorted({(draw.randrange(24), draw.randrange(60), draw.randrange(60)) for _ in range(rows)})
    draw.shuffle(moments)
    source: Columns = {
        column: [f"{moment[place]:02}" for moment in moments]
        for place, column in enumerate(("hour", "minute", "second"))
    }
    return case_of(draw, source, [":".join(f"{part:02}" for part in moment) for moment in moments], "time")


def name_concat(rows: int, draw: random.Random) -> Case:
    """First and last names from small pools, so that each is shared; together with a space in the other table."""
    firsts, lasts = ([word(draw).title() for _ in range(rows // 8)] for _ in range(2))
    names = sorted({(draw.choice(firsts), draw.choice(lasts)) for _ in range(rows)})
    draw.shuffle(names)
    source: Columns = {"first": [name[0] for name in names], "last": [name[1] for name in names]}
    return case_of(draw, source, [" ".join(name) for name in names], "name")


def citeseer(rows: int, draw: random.Random) -> Case:
    """Year, title and authors in columns; together as one citation in the other table."""
    papers = [
        (
            str(draw.randint(1980, 2005)),
            " ".join(word(draw, 1, 4) for _ in range(draw.randint(3, 9))).capitalize(),
            ", ".join(f"{word(draw).title()} {word(draw).title()}" for _ in range(draw.randint(1, 4))),
        )
        for _ in range(rows)
    ]
    source: Columns = {
        column: [paper[place] for paper in papers] for place, column in enumerate(("year", "title", "authors"))
    }
    return case_of(draw, source, [f"{authors}. {title}. {year}" for year, title, authors in papers], "citation")


def misspelt(rows: int, draw: random.Random) -> Case:
    """People and towns; the other table has them with one typing error each. For similarity, not of the paper."""
    pools = [[word(draw, 1, 4).title() for _ in range(size)] for size in (3_000, 40_000, 8_000)]
    texts = [" ".join(draw.choice(pool) for pool in pools) for _ in range(rows)]
    return case_of(draw, {"name": list(texts)}, [_mistyped(text, draw) for text in texts], "who")


def _mistyped(text: str, draw: random.Random) -> str:
    place = draw.randrange(len(text))
    instead = draw.choice(("", "e", "x", text[place] * 2))
    return text[:place] + instead + text[place + 1 :]


CASES: dict[str, Callable[[int, random.Random], Case]] = {
    "UserID": user_id,
    "Time": time_of_day,
    "NameConcat": name_concat,
    "Citeseer": citeseer,
}
