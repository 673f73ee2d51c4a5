"""Pairs of tables that are made from a lake by rules, for training: what published cases have too few of.

A table with a key is dealt into two: some of its rows and columns to either side, some columns to both, some names
changed. In the second table the key stays as it is (`split`), is misspelled (`spelled`) or written by another rule
(`reformatted`). Two tables of different sources are `unrelated`, unless both speak of a reference list or a text column
has much in common with one of the other. Everything is drawn with a seed. Tables whose path names one of the databases
of the truth are left out: nothing that is scored may be in the training.
"""

from __future__ import annotations

import random
import re
import string
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from cases import NOTHING, REFERENCE, Case, Columns, frames, score_of_pairs

from dovetail.errors import DovetailError
from dovetail.tables.input_table import InputTable, open_table

NUMBER = 120  # cases of each kind
MOST_OF_A_SOURCE = 54  # tables that are drawn for a kind
ROWS = 20, 5_000
LEAST_COLUMNS = 3
TO_BOTH = 0.3  # of the columns
WITH_ROW_NUMBERS = 0.3  # of the cases
SAME_NAME = 0.5  # of the names
COMMON = 0.2, 3  # share, and number, of a text column's values that the other table has: more are no strangers
SAME_DATA = "baseball", "nycflights", "formula"
"""Data of the databases under other names."""
VOWELS = re.compile(r"(?<=\w)[aeiou]", re.I)

Text = Callable[[str, random.Random], str]


def made_cases(lake: Path, databases: Path, seed: int = 7) -> Iterator[Case]:
    tables = drawn_tables(lake, databases, seed)
    for kind in ("split", "spelled", "reformatted"):
        found = 0
        for source, path in tables(kind):
            draw = random.Random(f"{seed} {kind} {path}")
            case = dealt(source, path, kind, draw)
            if case is not None:
                found += 1
                yield case
            if found == NUMBER:
                break
    yield from unrelated(tables("unrelated"))


def drawn_tables(lake: Path, databases: Path, seed: int) -> Callable[[str], Iterator[tuple[str, Path]]]:
    """Tables of all sources in turn, as long as a source has some left and not more than its share was drawn."""
    names = [folder.name for folder in sorted(databases.glob("*/")) if len(folder.name) > len("f1")]
    avoided = re.compile("|".join([*names, *SAME_DATA]), re.I)
    sources: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(lake.glob("*/**/*")):
        name = path.relative_to(lake)
        if path.suffix in (".csv", ".tsv") and not avoided.search(str(name)) and path.stat().st_size < 1 << 20:
            sources[name.parts[0]].append(path)

    def tables(purpose: str) -> Iterator[tuple[str, Path]]:
        draw = random.Random(f"{seed} {purpose}")
        left = {source: draw.sample(paths, len(paths)) for source, paths in sources.items()}
        drawn: dict[str, int] = defaultdict(int)
        while left:
            source = draw.choice(sorted(left))
            drawn[source] += 1
            yield source, left[source].pop()
            if not left[source] or drawn[source] > MOST_OF_A_SOURCE:
                del left[source]

    return tables


def dealt(source: str, path: Path, kind: str, draw: random.Random) -> Case | None:
    """A table dealt into two; None if it has no key that the rule applies to."""
    table = opened(path)
    if table is None:
        return None
    keys = [name for name in table.names if is_key(table, name, text=kind != "split")]
    if not keys:
        return None
    key = draw.choice(keys)
    columns = {name: table.values(name) for name in table.names}
    if kind == "reformatted":
        rule = draw.choice(FORMATS)
        made = [None if text is None else rule(text, draw) for text in columns[key]]
        if len(set(made)) < len(made) or made == columns[key]:
            return None
    elif kind == "spelled":
        share = draw.uniform(0.2, 0.9)
        made = [misspelled(text, draw) if text and draw.random() < share else text for text in columns[key]]
    else:
        made = columns[key]
    left, right = two_sides(columns, key, made, draw)
    rows = [sorted(draw.sample(range(table.rows), int(draw.uniform(*shares) * table.rows))) for shares in SHARES]
    sides = [
        {name: [side[name][row] for row in some] for name in side}
        for side, some in zip((left, right), rows, strict=True)
    ]
    if draw.random() < WITH_ROW_NUMBERS:
        sides = [{"id": [str(row) for row in range(len(some))]} | side for side, some in zip(sides, rows, strict=True)]
    ids = [[str(row) for row in some] for some in rows]
    truth = {(each, each) for each in set(ids[0]) & set(ids[1])}
    name = f"{path.parent.name}/{path.stem}"
    return Case(f"made: {kind}", (source,), name, frames(*sides), score_of_pairs(ids[0], ids[1], truth))


SHARES = (0.7, 1.0), (0.3, 1.0)
"""Of the rows, that go to the left and to the right table."""


def two_sides(columns: Columns, key: str, made: list[str | None], draw: random.Random) -> tuple[Columns, Columns]:
    left, right = {}, {}
    for name, values in columns.items():
        place = draw.random()
        if name == key or place < TO_BOTH or place < TO_BOTH + (1 - TO_BOTH) / 2:
            left[name] = values
        if name == key or place < TO_BOTH or place >= TO_BOTH + (1 - TO_BOTH) / 2:
            other = name if draw.random() < SAME_NAME else renamed(name, draw)
            while other in right:
                other += "_"
            lost = draw.uniform(0, 0.3)
            right[other] = made if name == key else [None if draw.random() < lost else value for value in values]
    names = list(right)
    draw.shuffle(names)
    return left, {name: right[name] for name in names}


def renamed(name: str, draw: random.Random) -> str:
    words = re.findall(r"\w+", name) or ["column"]
    return draw.choice(
        [
            "_".join(words).upper(),
            "".join(word[:3] for word in words).lower(),
            VOWELS.sub("", "_".join(words)),
            f"the_{'_'.join(words)}".lower(),
            words[-1].lower(),
            draw.choice(["name", "value", "label", "title", "description"]),
            draw.choice(string.ascii_uppercase),
        ]
    )


def misspelled(text: str, draw: random.Random) -> str:
    for _ in range(draw.choice((1, 1, 2))):
        text = draw.choice(ERRORS)(text, draw)
    return text


def _letter(change: Callable[[str, int, random.Random], str]) -> Text:
    def changed(text: str, draw: random.Random) -> str:
        return change(text, draw.randrange(len(text) - 1), draw) if len(text) > 3 else text

    return changed


def _word(change: Callable[[list[str], int, random.Random], list[str]]) -> Text:
    def changed(text: str, draw: random.Random) -> str:
        words = text.split()
        return " ".join(change(words, draw.randrange(len(words)), draw)) if len(words) > 1 else text

    return changed


ERRORS: tuple[Text, ...] = (
    _letter(lambda text, at, _: text[:at] + text[at + 1] + text[at] + text[at + 2 :]),
    _letter(lambda text, at, _: text[:at] + text[at + 1 :]),
    _letter(lambda text, at, _: text[: at + 1] + text[at:]),
    _letter(lambda text, at, draw: text[:at] + draw.choice(string.ascii_lowercase) + text[at + 1 :]),
    _word(lambda words, at, _: words[:at] + words[at + 1 :]),
    _word(lambda words, at, _: words[at:] + words[:at]),
    _word(lambda words, at, _: [*words[:at], f"{words[at][0]}.", *words[at + 1 :]]),
    lambda text, draw: re.sub(r"[^\w\s]", "", text) or text,
    lambda text, draw: f"{text} ({draw.choice(['new', 'the', 'US', 'old', '2', 'B', 'north'])})",
    lambda text, draw: text.upper(),
)

FORMATS: tuple[Text, ...] = (
    lambda text, _: f"{text.split()[-1]}, {' '.join(text.split()[:-1])}" if " " in text else text,
    lambda text, _: "-".join(re.findall(r"\w+", text)).lower() or text,
    lambda text, _: text.split()[0] if text.split() else text,
    lambda text, _: text.split()[-1] if text.split() else text,
    lambda text, _: f"ID-{text}",
    lambda text, _: f"{text[0]}. {text.split()[-1]}" if " " in text.strip() else text,
    lambda text, _: re.sub(r"\s*[(\[].*", "", text) or text,
    lambda text, _: text.replace(" ", "_").upper(),
)


def unrelated(tables: Iterator[tuple[str, Path]]) -> Iterator[Case]:
    """Tables of different sources, two after another."""
    found, before = 0, None
    for source, path in tables:
        table = opened(path)
        if table is None:
            continue
        if before is None or before[0] == source:
            before = source, path, table
            continue
        other, of_path, of_table = before
        before = None
        if not are_related(of_table, table):
            found += 1
            name = f"{of_path.stem} – {path.stem}"
            sides = ({name: each.values(name) for name in each.names} for each in (of_table, table))
            yield Case("made: unrelated", (other, source), name, frames(*sides), lambda _: NOTHING)
        if found == NUMBER:
            return


def are_related(left: InputTable, right: InputTable) -> bool:
    if all(REFERENCE.search(f"{table.name},{','.join(table.names)}") for table in (left, right)):
        return True
    texts = [[set(column.tokens.to_pylist()) for column in table.columns if column.is_text] for table in (left, right)]
    share, least = COMMON
    return any(
        len(mine & theirs) >= max(least, share * min(len(mine), len(theirs)))
        for mine in texts[0]
        for theirs in texts[1]
    )


def opened(path: Path) -> InputTable | None:
    try:
        table = open_table(path)
    except DovetailError:
        return None
    return table if ROWS[0] <= table.rows <= ROWS[1] and len(table.names) >= LEAST_COLUMNS else None


def is_key(table: InputTable, name: str, text: bool) -> bool:
    """Of texts, if texts are asked for; and no row numbers, which are equal by chance."""
    column = table.column(name)
    if column.size < table.rows:
        return False
    if text:
        return column.is_text and not column.has_codes
    if column.type.kind != "integer":
        return column.type.kind != "real"
    numbers = [int(token) for token in column.tokens.to_pylist()]
    return max(numbers) - min(numbers) >= 2 * len(numbers)
