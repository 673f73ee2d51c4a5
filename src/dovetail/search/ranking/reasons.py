"""Sentences for what speaks for and against a hit."""

from __future__ import annotations

from dovetail._model import Model
from dovetail._types import Array
from dovetail.evidence.reasons import Clauses, Group, Values, model_clauses, share_in_words

_GROUPS: tuple[Group[Values], ...] = (
    Group(
        ("contained", "matched", "missing", "contained_key"),
        lambda of: f"{share_in_words(of['contained'])} of your values occur there",
        lambda of: f"only {share_in_words(of['contained'])} of your values occur there",
    ),
    Group(
        ("unique_there", "partners_there", "lookup", "leading_there", "first_there", "filled_there"),
        lambda of: "its column identifies its rows" if of["unique_there"] == 1 else "few rows match each of yours",
        lambda of: "its column is not the key of its table" if of["lookup"] else "several rows match each of yours",
    ),
    Group(
        ("called", "same_name", "called_key", "rare_name", "ends_alike",
         "ends_alike_key", "called_back", "generic_there"),
        lambda of: "the columns have the same name" if of["same_name"] else "the names correspond",
        lambda of: "the columns have a common name" if of["same_name"] else "the names do not correspond",
    ),
    Group(
        ("near", "near_called", "near_key"),
        lambda _: "the tables are close to each other in the lake",
        lambda _: "the tables are far from each other in the lake",
    ),
    Group(
        ("rare_values", "rare_bits", "rivals", "bits", "chance"),
        lambda _: "few other columns have these values",
        lambda of: "such values match by chance" if of["chance"] > 1 / 2 else "many other columns have these values",
    ),
    Group(
        ("integer", "real", "date", "flag", "same_kind", "length_differs", "from_one"),
        lambda _: "the values are of a kind that keys have",
        lambda of: "dates match by chance" if of["date"] else "the values are of a kind that keys rarely have",
    ),
    Group(
        ("called_alike", "shared_names", "shared_values"),
        lambda _: "the tables have other names or values in common",
        lambda _: "the tables have nothing else in common",
    ),
)  # fmt: skip


def reasons(model: Model, features: Array) -> Clauses:
    """What speaks for a hit and what against it, the strongest first."""
    return model_clauses(_GROUPS, model, features)
