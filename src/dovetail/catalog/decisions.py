"""What a person decided about columns of two tables, or about a pair of their values: these join, or never do.

Decisions belong to the index, not to one of its generations: they name tables and columns by their names, so that they
outlive updates, compaction, and even the tables. One sealed file holds all of them, and is replaced as a whole under a
lock of its own: a decision does not wait for an index that is being built.

    <index>/decisions.json
    <index>/decisions.lock      held while decisions.json is changed
"""

from __future__ import annotations

import datetime
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dovetail._storage.sealed import seal, unseal
from dovetail._storage.store import Address, Store, open_store
from dovetail.errors import FormatMismatch, IndexDamaged, InputError

JOINS, NEVER = VERDICTS = ("joins", "never")
FILE = "decisions.json"
VERSION = 1

DECLARED = "declared in the database"
_OTHER = {"": "", "left": "right", "right": "left"}

ColumnNames = Sequence[str]
_Pairs = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Decision:
    """A verdict on columns of two tables, paired in their order. Neither side comes first in meaning."""

    left_table: str
    left_columns: tuple[str, ...]
    right_table: str
    right_columns: tuple[str, ...]
    verdict: str
    note: str = ""
    decided: str = ""  # when: UTC, ISO 8601
    values: tuple[str, ...] = ()  # a value of the left column and one of the right; none: it is about the columns
    missing: tuple[str, ...] = field(default=(), compare=False)  # tables and columns that the index does not have
    referring: str = ""  # `left` or `right`: a database declares that this side refers to the other; nobody decided it

    def __post_init__(self) -> None:
        if self.verdict not in VERDICTS:
            raise InputError(f"`verdict` is {self.verdict!r}; it must be one of {', '.join(VERDICTS)}.")
        if self.values and (len(self.values) != 2 or len(self.left_columns) != 1):
            raise InputError("A decision about values is about one of each of two columns.")

    @property
    def pairs(self) -> _Pairs:
        return frozenset(zip(self.left_columns, self.right_columns, strict=True))

    @property
    def turned(self) -> Decision:
        """The same decision from the other side."""
        return replace(
            self, left_table=self.right_table, left_columns=self.right_columns, right_table=self.left_table,
            right_columns=self.left_columns, values=self.values[::-1], referring=_OTHER[self.referring],
        )  # fmt: skip

    @property
    def columns(self) -> str:
        """Both sides in one line."""
        sides = ((self.left_table, self.left_columns), (self.right_table, self.right_columns))
        return " = ".join(f"{table} ({', '.join(columns)})" for table, columns in sides) + self._of_values

    @property
    def _of_values(self) -> str:
        return ": {!r} = {!r}".format(*self.values) if self.values else ""

    @property
    def condition(self) -> str:
        """The columns alone, and the values if it is about them: `city = town and day = date`."""
        columns = zip(self.left_columns, self.right_columns, strict=True)
        return " and ".join(f"{a} = {b}" for a, b in columns) + self._of_values

    @property
    def declared(self) -> bool:
        """Whether it is a foreign key that a database declares, not a person's word."""
        return bool(self.referring)

    @property
    def when(self) -> str | None:
        """When a person decided it; None for a declared key."""
        return self.decided or None

    @property
    def sentence(self) -> str:
        """When it was decided, and why if a note says so; or that a database declares it."""
        if self.declared:
            return DECLARED
        return f"decided by you on {self.decided[:10]}" + (f" ({self.note})" if self.note else "")

    def is_about(self, other: Decision) -> bool:
        """Whether both are about the same pairs of columns, or the same values of them, from whichever side."""
        return (other.left_table, other.right_table, other.pairs, other.values) in (
            (each.left_table, each.right_table, each.pairs, each.values) for each in (self, self.turned)
        )

    def to_json(self) -> dict[str, Any]:
        """As it is stored."""
        left_out = {"missing", "referring"} if self.values else {"missing", "referring", "values"}
        return {name: value for name, value in vars(self).items() if name not in left_out}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> Decision:
        names = {name: tuple(body.get(name, ())) for name in ("left_columns", "right_columns", "values")}
        return cls(**body | names)

    def to_dict(self) -> dict[str, Any]:
        fields = {name: value for name, value in vars(self).items() if name != "referring"}
        names = {name: list(value) for name, value in fields.items() if isinstance(value, tuple)}
        return {**fields, "note": self.note or None, **names, "values": list(self.values) or None}


class TableDecisions:
    """The decisions about two tables, seen from one of them."""

    def __init__(self) -> None:
        self._joins: dict[_Pairs, Decision] = {}
        self._never: dict[_Pairs, Decision] = {}
        self._values: dict[_Pairs, list[Decision]] = {}

    def add(self, decision: Decision) -> None:
        if decision.values:
            self._values.setdefault(decision.pairs, []).append(decision)
        else:
            (self._joins if decision.verdict == JOINS else self._never)[decision.pairs] = decision

    @property
    def accepted(self) -> list[Decision]:
        """Those that say that columns join."""
        return list(self._joins.values())

    @property
    def rejected(self) -> list[Decision]:
        """Those that say that columns never join."""
        return list(self._never.values())

    def values_alone(self) -> TableDecisions:
        """Without those about columns."""
        found = TableDecisions()
        for decision in self.about_values:
            found.add(decision)
        return found

    @property
    def about_values(self) -> list[Decision]:
        """Those about pairs of values, whatever the columns."""
        return [each for some in self._values.values() for each in some]

    def of_values(self, mine: ColumnNames, theirs: ColumnNames) -> list[Decision]:
        """The decisions about values of these columns, the oldest first."""
        return self._values.get(_paired(mine, theirs), [])

    def accepts(self, mine: ColumnNames, theirs: ColumnNames) -> Decision | None:
        """The decision that exactly these columns join."""
        return self._joins.get(_paired(mine, theirs))

    def rejects(self, mine: ColumnNames, theirs: ColumnNames) -> Decision | None:
        """The decision that all or some of these columns never join, unless another accepts exactly these."""
        pairs = _paired(mine, theirs)
        if pairs in self._joins:
            return None
        return next((decision for never, decision in self._never.items() if never <= pairs), None)


NO_DECISIONS = TableDecisions()


class Decisions:
    """Decisions, by the tables that they are about."""

    def __init__(self, decisions: Iterable[Decision] = ()) -> None:
        self.all = tuple(decisions)
        self._by_table: dict[str, dict[str, TableDecisions]] = defaultdict(lambda: defaultdict(TableDecisions))
        for decision in self.all:
            for side in (decision, decision.turned):
                self._by_table[side.left_table][side.right_table].add(side)

    def of(self, table: str | None) -> dict[str, TableDecisions]:
        """The decisions about a table, by the other table; `table` is an id, or None for what is not in the lake."""
        return {} if table is None else dict(self._by_table.get(table, {}))

    def between(self, left: str | None, right: str | None, names: tuple[str, str] | None = None) -> TableDecisions:
        """The decisions about two tables, seen from the left one.

        What is not in the lake has no id, but a name: by `names`, decisions about values are found all the same.
        """
        found = self.of(left).get(right or "", NO_DECISIONS)
        if names is None or names == (left, right):
            return found
        return self.of(names[0]).get(names[1], NO_DECISIONS).values_alone()


def with_declared(declared: Iterable[Decision], decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    """Declared keys, and what people decided: their word about the same columns is the last."""
    kept = tuple(decisions)
    about = {(side.left_table, side.right_table, side.pairs)
             for each in kept if not each.values for side in (each, each.turned)}  # fmt: skip
    return (*(each for each in declared if (each.left_table, each.right_table, each.pairs) not in about), *kept)


def read_decisions(index: Address) -> tuple[Decision, ...]:
    """All decisions that the index keeps, the oldest first."""
    store = open_store(index)
    try:
        written = store.read(FILE)
    except FileNotFoundError:
        return ()
    return _decisions_in(written, store)


def column_decisions(index: Address) -> tuple[Decision, ...]:
    """Those of them that are about columns."""
    return tuple(each for each in read_decisions(index) if not each.values)


def decisions_digest(index: Address) -> str:
    """Tells one set of decisions from another."""
    try:
        return hashlib.sha256(open_store(index).read(FILE)).hexdigest()[:16]
    except FileNotFoundError:
        return ""


def _decisions_in(written: bytes, store: Store) -> tuple[Decision, ...]:
    path = f"{store.address}/{FILE}"
    try:
        body = unseal(written, path)
    except IndexDamaged as damage:
        advice = "Restore it from a copy, or delete it: then the decisions are lost, and nothing else."
        raise IndexDamaged(f"{damage} {advice}") from None
    if body["version"] != VERSION:
        raise FormatMismatch(f"{path} has version {body['version']}; this Dovetail reads version {VERSION}.")
    return tuple(map(Decision.from_json, body["decisions"]))


def keep_decision(index: Address, decision: Decision) -> Decision:
    """Keep a decision, in place of an earlier one about the same columns or values. Returns it with the time."""
    made = replace(decision, decided=_now())
    _change(index, lambda kept: [*(each for each in kept if not each.is_about(made)), made])
    return made


def forget_decision(index: Address, decision: Decision) -> Decision | None:
    """Forget the decision about these columns, whatever its verdict. Returns it; None if there was none."""
    found: Decision | None = None

    def without(kept: list[Decision]) -> list[Decision]:
        nonlocal found
        found = next((each for each in kept if each.is_about(decision)), None)
        return [each for each in kept if each is not found]

    _change(index, without)
    return found


def _change(index: Address, change: Callable[[list[Decision]], list[Decision]]) -> None:
    """Replace the decisions by what `change` makes of them. Another process waits meanwhile, or tries again."""
    store = open_store(index)

    def changed(written: bytes | None) -> bytes | None:
        before = [] if written is None else list(_decisions_in(written, store))
        after = change(before)
        return None if after == before else seal({"version": VERSION, "decisions": [each.to_json() for each in after]})

    try:
        store.change(FILE, changed)
    except OSError as error:
        raise InputError(f"Cannot write to {store.address}: {error.strerror}.") from error


def _paired(mine: ColumnNames, theirs: ColumnNames) -> _Pairs:
    """Columns that cannot be paired, as after a transformation of two into one, are no pairs."""
    return frozenset(zip(mine, theirs, strict=True)) if len(mine) == len(theirs) else frozenset()


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
