"""Why a join is likely, or not: sentences made of the features that moved its probability."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dovetail.evidence.reasons import Clauses, Group, clauses, share_in_words

_BY_CHANCE = 0.5  # of the values that mean something else: more often than not


@dataclass(frozen=True)
class JoinWords:
    """What the sentences speak of."""

    features: Mapping[str, float]
    mine: str  # the columns that look for a key
    here: str  # left or right: their side
    there: str

    def is_one(self, name: str) -> bool:
        return self.features[name] == 1


def join_clauses(moved: Mapping[str, float], of: JoinWords) -> Clauses:
    """What speaks for a join and what against it, the strongest first."""
    return clauses(_GROUPS, moved, of)


def as_sentence(found: Clauses) -> str:
    """The clauses as one sentence or two; empty without any."""
    for_it, against = ("; ".join(side) for side in found)
    parts = [for_it] * bool(for_it) + [f"but {against}" if for_it else against] * bool(against)
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _values(of: JoinWords) -> str:
    found = "a similar value" if of.features["similar"] > _BY_CHANCE else "a match"
    share = share_in_words(of.features["contained"])
    values = "all values" if share == "all" else f"{share} of the values"
    return f"{values} of {of.mine} on the {of.here} have {found}"


def _few_values(of: JoinWords) -> str:
    return f"only {_values(of)}" if of.features["contained"] < _BY_CHANCE else "much is left without a match"


def _key(of: JoinWords) -> str:
    if of.is_one("unique_there") and of.is_one("unique_here"):
        return "the values are unique on both sides"
    return f"the values are unique on the {of.there}" if of.is_one("unique_there") else "a row has few partners"


def _no_key(of: JoinWords) -> str:
    if of.is_one("unique_there") or of.is_one("unique_here"):
        return "the columns are not the first keys of their tables"
    return "neither side is a key"


def _names(of: JoinWords) -> str:
    return "the columns have the same name" if of.is_one("same_name") else "the names correspond"


def _other_names(of: JoinWords) -> str:
    return "such names say little" if of.features["same_name"] else "the names do not correspond"


def _chance(of: JoinWords) -> str:
    if of.features["date"]:
        return "dates match by chance"
    if of.features["real"]:
        return "measurements match by chance"
    if of.features["reference_row_number_here"] or of.features["reference_numbered_there"]:
        return "row numbers match by chance"
    return "so few values match by chance" if of.features["chance"] < _BY_CHANCE else "such values match by chance"


def _effort(of: JoinWords) -> str:
    if of.features["similar"] > _BY_CHANCE:
        return "the values are only similar"
    return "the values must be transformed first" if of.features["transformed"] else "it takes several columns"


def _little_effort(of: JoinWords) -> str:
    return "the similar values are hardly in doubt" if of.features["similar"] else "the values are equal"


_GROUPS: tuple[Group[JoinWords], ...] = (
    Group(
        ("contained", "matched", "missing", "covered", "filled_here", "filled_there", "size_there", "rows_ratio"),
        _values,
        _few_values,
    ),
    Group(
        ("unique_there", "unique_here", "partners_there", "partners_here", "leading_there", "leading_here",
         "first_there", "first_here"),
        _key,
        _no_key,
    ),
    Group(
        ("called", "same_name", "generic_here", "generic_there", "called_of_numbers", "reference_theirs_found",
         "reference_tables_similar", "reference_head", "reference_called", "reference_owner_of_name",
         "reference_called_here_key", "reference_own_key_here", "reference_id_word_here", "reference_own_name_there",
         "reference_id_word_there", "reference_known_there", "generic_match", "called_to_key", "called_to_first",
         "reference_called_lead", "reference_theirs_found_lead", "reference_head_lead"),
        _names,
        _other_names,
    ),
    Group(
        ("bits", "chance", "keys", "spread", "from_one", "integer", "real", "date", "flag", "same_kind", "length",
         "length_differs", "chance_unnamed", "reference_row_number_here", "reference_numbered_there"),
        lambda _: "chance would hardly match such values",
        _chance,
    ),
    Group(
        ("agreement", "agreement_of_keys"),
        lambda _: "the joined rows agree in other columns, too",
        lambda _: "the joined rows do not agree in other columns",
    ),
    Group(("columns", "transformed", "similar", "uncertain", "cost"), _little_effort, _effort),
    Group(
        ("rank_lead",),
        lambda _: "no other columns come near",
        lambda of: "other columns fit better" if of.features["rank_lead"] < 0 else "other columns fit nearly as well",
    ),
)  # fmt: skip
