"""The kinds of column of the generated lake: each maker draws its parameters first, then its values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from vocabulary import Vocabulary

Maker = Callable[[np.random.Generator, int, Vocabulary], pa.Array]


@dataclass(frozen=True)
class Kind:
    """A kind of column: what it may be called, how often it occurs, how its values are made."""

    names: tuple[str, ...]
    weight: float
    make: Maker
    may_hold_nulls: bool = True


def draw(rng: np.random.Generator, words: pa.Array, rows: int) -> pa.Array:
    """Zipf-distributed draws from the whole list or from a stretch of it."""
    span = max(2, int(len(words) ** rng.uniform(0.4, 1)))
    start = 0 if rng.random() < 0.6 else int(rng.integers(len(words)))
    ranks = np.floor(span ** rng.random(rows)).astype(np.int64)
    return words.take(pa.array((start + ranks) % len(words)))


def _serial(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
    start = int(rng.choice((0, 1, 1000, 100_000)))
    return pa.array(np.arange(start, start + rows))


def _reference(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
    top = 10 ** rng.uniform(2, 6)
    return pa.array(np.floor(top ** rng.random(rows)).astype(np.int64))


def _code(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
    top = int(10 ** rng.uniform(2, 7))
    prefix = words.code_prefixes[int(rng.integers(len(words.code_prefixes)))]
    numbers = pc.utf8_lpad(pc.cast(pa.array(rng.integers(0, top, rows)), pa.string()), 6, "0")
    return pc.binary_join_element_wise(prefix, numbers, "-")


def _hash(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)[rng.integers(0, 16, 32 * rows)]
    return pa.StringArray.from_buffers(
        rows, pa.py_buffer(np.arange(0, 32 * rows + 1, 32, dtype=np.int32)), pa.py_buffer(digits)
    )


def _count(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
    mean, spread = rng.uniform(1, 10), rng.uniform(0.5, 2)
    return pa.array(np.floor(rng.lognormal(mean, spread, rows)).astype(np.int64))


def _year(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
    first = int(rng.integers(1950, 2020))
    return pa.array(rng.integers(first, 2026, rows))


def _price(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
    mean = rng.uniform(1, 7)
    return pa.array(np.round(rng.lognormal(mean, 1, rows), 2))


def _coordinate(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
    limit, digits = float(rng.choice((90, 180))), int(rng.integers(3, 7))
    return pa.array(np.round(rng.uniform(-limit, limit, rows), digits))


def _measure(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
    return pa.array(rng.normal(rng.uniform(-10, 100), rng.uniform(0.1, 50), rows))


def _date(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
    first, span = rng.integers(3_650, 18_000), rng.integers(30, 3_000)
    return pa.array(first + rng.integers(0, span, rows), pa.int32()).cast(pa.date32())


def _written_date(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
    first, span = int(rng.integers(0, 10_000)), int(rng.integers(30, 3_000))
    return words.days.take(pa.array(first + rng.integers(0, span, rows)))


def _moment(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
    first, span = rng.integers(10**9, 1_600_000_000), rng.integers(10**5, 10**8)
    return pa.array(first + rng.integers(0, span, rows)).cast(pa.timestamp("s"))


def _words_of(name: str) -> Maker:
    def make(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
        upper = rng.random() < 0.1
        drawn = draw(rng, getattr(words, name), rows)
        return pc.utf8_upper(drawn) if upper else drawn

    return make


def _person(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
    separator = str(rng.choice((" ", ", ")))
    return pc.binary_join_element_wise(draw(rng, words.first_names, rows), draw(rng, words.last_names, rows), separator)


def _mail(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
    name = pc.binary_join_element_wise(draw(rng, words.first_names, rows), draw(rng, words.last_names, rows), ".")
    return pc.utf8_lower(pc.binary_join_element_wise(name, "example.org", "@"))


def _status(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
    chosen = words.products.take(pa.array(rng.integers(0, 200, int(rng.integers(2, 12)))))
    return chosen.take(pa.array(rng.integers(0, len(chosen), rows)))


def _flag(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
    pair = (("Y", "N"), ("yes", "no"), ("true", "false"), ("0", "1"), ("T", "F"))[int(rng.integers(5))]
    return pa.array(pair).take(pa.array((rng.random(rows) < rng.uniform(0.05, 0.95)).astype(np.int8)))


def _text(rng: np.random.Generator, rows: int, words: Vocabulary) -> pa.Array:
    parts = int(rng.integers(1, 5))
    return pc.binary_join_element_wise(*(draw(rng, words.phrases, rows) for _ in range(parts)), ". ")


KINDS = (
    Kind(("id", "ID", "row_id", "record number", "key"), 6, _serial, may_hold_nulls=False),
    Kind(("customer_id", "station", "parent_id", "product id", "SITE_ID"), 8, _reference),
    Kind(("code", "sku", "Reference", "order_no", "case_number"), 5, _code),
    Kind(("hash", "uuid", "checksum"), 1, _hash),
    Kind(("count", "population", "quantity", "Total", "n", "visits"), 12, _count),
    Kind(("year", "Year", "season", "fiscal_year"), 5, _year),
    Kind(("price", "amount", "cost", "Revenue", "budget"), 8, _price),
    Kind(("lat", "lon", "longitude", "LATITUDE", "x", "y"), 5, _coordinate),
    Kind(("value", "score", "mean", "temperature", "residual"), 4, _measure),
    Kind(("date", "Date", "start_date", "opened", "birthday"), 6, _date),
    Kind(("day", "reported", "Datum"), 2, _written_date),
    Kind(("timestamp", "created_at", "updated"), 2, _moment),
    Kind(("country", "Country", "nation", "origin"), 6, _words_of("countries")),
    Kind(("country_code", "iso", "ISO2"), 4, _words_of("country_codes")),
    Kind(("city", "City", "town", "place", "birthplace"), 7, _words_of("cities")),
    Kind(("company", "supplier", "Employer"), 4, _words_of("companies")),
    Kind(("product", "item", "Article"), 5, _words_of("products")),
    Kind(("surname", "last_name", "family"), 3, _words_of("last_names")),
    Kind(("name", "author", "contact", "Owner"), 4, _person),
    Kind(("email", "mail"), 1, _mail),
    Kind(("status", "type", "category", "Class"), 8, _status),
    Kind(("active", "flag", "is_valid", "closed"), 5, _flag),
    Kind(("notes", "description", "comment", "title", "Remarks"), 3, _text),
)
