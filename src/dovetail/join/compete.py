"""Three methods compete: of all candidates, the one that a person would most likely accept wins, if likely enough.

Equal columns are cheap, and measured first. Transformations and similarity take longer, and are left out if some equal
columns are nearly certain: nothing that they find could be more likely.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dovetail._deadline import Deadline, OutOfTime
from dovetail._types import Array
from dovetail.catalog.decisions import NO_DECISIONS, TableDecisions
from dovetail.evidence.reasons import Clauses
from dovetail.evidence.thresholds import CERTAIN_JOIN, LIKELY_JOIN, NAMED_RUNNER_UP
from dovetail.join.candidates import Candidate, Candidates
from dovetail.join.judge import ACCEPT_FEATURES, is_part_of_key, verdicts
from dovetail.join.keys import SIMILAR, joined_rows
from dovetail.join.reasons import JoinWords, as_sentence, join_clauses
from dovetail.tables.input_table import InputTable

_METHODS = ("equal", "transform", "similar")
_COMPARED = 1_000_000  # pairs of rows, to see whether two candidates join the same; arbitrary, some milliseconds
_RUNNERS_UP = 3  # that are named


@dataclass(frozen=True)
class Judged:
    """A candidate and how likely a person would accept it."""

    candidate: Candidate
    probability: float
    features: Array  # ACCEPT_FEATURES
    moved: Array  # how far each of them raises the log-odds

    @property
    def condition(self) -> str:
        mine, theirs = self.candidate.columns
        if self.candidate.way is not None and not self.candidate.way.is_identity:
            return f"{self.candidate.way.programs[0].words} = {self.candidate.way.target}"
        if len(mine) == len(theirs):
            sign = "~" if self.candidate.by == "similar" else "="
            return " and ".join(f"{a} {sign} {b}" for a, b in zip(mine, theirs, strict=True))
        return f"{' and '.join(mine)} ~ {' and '.join(theirs)}"

    def to_dict(self) -> dict[str, object]:
        return {
            "by": self.candidate.by,
            "left_columns": list(self.candidate.columns[0]),
            "right_columns": list(self.candidate.columns[1]),
            "condition": self.condition,
            "probability": round(self.probability, 4),
            "reasons": list(self.clauses[0]),
            "objections": list(self.clauses[1]),
            "pairs": self.candidate.joined,
            "matched_left": self.candidate.matched[0],
            "matched_right": self.candidate.matched[1],
        }

    @property
    def partners(self) -> float:
        """Joined rows for each matched row of the side that has more of them."""
        return self.candidate.joined / max(1, max(self.candidate.matched))

    @cached_property
    def clauses(self) -> Clauses:
        """What speaks for it and what against it, the strongest first."""
        sides = ("left", "right")[:: -1 if self.candidate.source else 1]
        of = JoinWords(
            dict(zip(ACCEPT_FEATURES, self.features.tolist(), strict=True)),
            " and ".join(self.candidate.columns[self.candidate.source]), *sides,
        )  # fmt: skip
        return join_clauses(dict(zip(ACCEPT_FEATURES, self.moved.tolist(), strict=True)), of)

    @property
    def sentence(self) -> str:
        """What it would do: "Party = Party would join 907 pairs, 36 for each row"."""
        return f"{self.condition} {self.effect}"

    @property
    def effect(self) -> str:
        pairs, each = self.candidate.joined, self.partners
        several = f", {each:,.0f} for each row" if each >= 1.5 else ""
        about = "about " if self.candidate.estimated else ""
        return f"would join {about}{pairs:,} {'pair' if pairs == 1 else 'pairs'}{several}"


@dataclass(frozen=True)
class Choice:
    """All candidates, the best first."""

    judged: tuple[Judged, ...]
    complete: bool  # False if the time was over before all methods had been tried

    @property
    def best(self) -> Judged | None:
        return self.judged[0] if self.judged else None

    def runners_up(self, chosen: Judged | None) -> tuple[Judged, ...]:
        """The next ones on other columns."""
        found: list[Judged] = []
        seen = {chosen.candidate.columns} if chosen else set()
        for each in self.judged:
            if each.candidate.columns not in seen and each.probability >= NAMED_RUNNER_UP:
                seen.add(each.candidate.columns)
                found.append(each)
        return tuple(found[:_RUNNERS_UP])


def compete(
    left: InputTable,
    right: InputTable,
    deadline: Deadline,
    by: str | None = None,
    decisions: TableDecisions = NO_DECISIONS,
) -> Choice:
    """The candidates of the three, or of equal columns alone, as far as the time allows; none that were rejected."""
    candidates = Candidates(left, right, deadline)
    found = _offered(candidates.equal(), decisions)
    judged = _judged(found)
    if by == "equal" or (judged and judged[0].probability >= CERTAIN_JOIN):
        return Choice(tuple(judged), not deadline.is_over)
    for method in (candidates.similar, candidates.transformed):
        if not deadline.is_over:
            found += _offered(in_time(method()), decisions)
    return Choice(tuple(_judged(found)), not deadline.is_over)


def in_time(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Those that were found before the time was over."""
    with suppress(OutOfTime):
        yield from candidates


def _offered(candidates: Iterable[Candidate], decisions: TableDecisions) -> list[Candidate]:
    return [each for each in candidates if decisions.rejects(*each.columns) is None]


def _judged(candidates: Sequence[Candidate]) -> list[Judged]:
    """The best first; of both directions of the same columns, the better one."""
    if not candidates:
        return []
    features, columns = np.stack([each.features for each in candidates]), [each.columns for each in candidates]
    kept = np.flatnonzero(~is_part_of_key(features, columns, [each.source for each in candidates]))
    candidates = [candidates[place] for place in kept.tolist()]
    columns = [each.columns for each in candidates]
    judged = verdicts(features[kept], columns, [each.by for each in candidates])
    found: dict[object, Judged] = {}
    per_match = [each.joined / max(1, *each.matched) for each in candidates]  # decides where both are as likely
    for place in np.lexsort((np.array(per_match), -judged.probability)).tolist():
        candidate = candidates[place]
        key = candidate.by, candidate.columns, candidate.joined
        said = Judged(candidate, float(judged.probability[place]), judged.features[place], judged.moved[place])
        found.setdefault(key, said)
    ranked = list(found.values())
    plainest = min(ranked, key=lambda each: (not _same_rows(each.candidate, ranked[0].candidate), _plainness(each)))
    best = replace(plainest, probability=ranked[0].probability)
    by_probability = [best, *(each for each in ranked if each is not plainest)]
    whole = next((each for each in by_probability if _is_whole(each, best)), best)
    return [whole, *(each for each in by_probability if each is not whole)]


def _is_whole(judged: Judged, rival: Judged) -> bool:
    """Whether a likely candidate explains all rows, and its rival of the other method fewer of them, on these columns.

    That one program makes every key of a table is evidence for all rows at once, where similar texts are evidence row
    by row; and a program that leaves rows out does not explain a table whose rows are all similar to keys.
    """
    mine, other = judged.candidate, rival.candidate
    if {mine.by, other.by} != {"transform", "similar"} or judged.probability < LIKELY_JOIN or mine.estimated:
        return False
    if not all(set(ones) & set(others) for ones, others in zip(mine.columns, other.columns, strict=True)):
        return False
    if sum(other.matched) >= sum(mine.matched):
        return False
    return _is_whole_program(mine) if mine.by == "transform" else _matches_all(mine)


def _matches_all(candidate: Candidate) -> bool:
    """Whether all rows of both tables have a match."""
    keys = candidate.keys()
    return candidate.matched == (len(keys.left), len(keys.right))


def _is_whole_program(candidate: Candidate) -> bool:
    """Whether each row of the source has a match, or each key of the target, and none by similarity."""
    keys = candidate.keys()
    if keys.origin is not None and (keys.origin[keys.of_source >= 0] == SIMILAR).any():
        return False
    of_source, of_target = candidate.matched[keys.source], candidate.matched[1 - keys.source]
    return bool(of_source == len(keys.of_source) or of_target == (keys.of_target >= 0).sum())


def _same_rows(one: Candidate, other: Candidate) -> bool:
    """Whether both join the same pairs of rows; of huge joins, and of those that are only estimated, nobody looks."""
    differ = (one.joined, one.matched) != (other.joined, other.matched)
    if one is other or differ or one.joined > _COMPARED or one.estimated or other.estimated:
        return one is other
    return all(map(np.array_equal, joined_rows(one.keys()), joined_rows(other.keys())))


def _plainness(judged: Judged) -> tuple[int, float]:
    """Of candidates that join as many rows, equal values explain it best, then a transformation."""
    way = judged.candidate.way
    by = "equal" if way is not None and way.is_identity else judged.candidate.by
    return _METHODS.index(by), -judged.probability


def why(judged: Judged) -> str:
    """What decided, in one sentence or two."""
    return f"{as_sentence(judged.clauses)} Likely right: {judged.probability:.0%}.".lstrip()


def why_nothing(choice: Choice) -> str:
    best = choice.best
    if best is None:
        return "No columns have a value in common, and no text is similar."
    against = "; ".join(best.clauses[1]) or "too little speaks for it"
    return f"The best candidate, {best.condition}, {best.effect}. Likely wrong ({1 - best.probability:.0%}): {against}."
