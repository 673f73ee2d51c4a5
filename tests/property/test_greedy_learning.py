"""Algorithm 4 of Auto-Join: what it learns makes all examples; one operator where one is enough."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail
from dovetail.normalise import plain
from dovetail.papers import auto_join
from dovetail.papers.auto_join.greedy import learn_greedily
from dovetail.transform.candidates import Example
from dovetail.transform.learn import learn

TEXTS = st.text("abC ,-", min_size=1, max_size=9)
ROWS = st.fixed_dictionaries({"a": TEXTS, "b": TEXTS})
PRESIDENTS = [("Obama, Barack(1961-)", "Barack Obama"), ("Bush, George W.(1946-)", "George W. Bush"),
              ("Clinton, Bill(1946-)", "Bill Clinton")]  # fmt: skip


@st.composite
def _examples(draw):
    """Rows, and what concatenations of their cells, pieces and constants give; sometimes of one row another text."""
    rows = draw(st.lists(ROWS, min_size=2, max_size=3))
    parts = draw(st.lists(st.sampled_from(["a", "b", "first", "last", "-", "x"]), min_size=1, max_size=3))
    wanted = ["".join(_part(part, row) for part in parts) for row in rows]
    if draw(st.integers(0, 4)) == 0:
        wanted[-1] = draw(TEXTS)
    return [Example(row, text) for row, text in zip(rows, wanted, strict=True)]


def _part(part: str, row: dict[str, str]) -> str:
    if part in row:
        return row[part]
    return {"first": row["a"].split(" ")[0], "last": row["b"][-1:]}.get(part, part)


def _makes(found, examples):
    if not found.program.columns:  # constants alone
        return all(plain("".join(step.text for step in found.program.steps)) == plain(e.wanted) for e in examples)
    made = [found.program.apply({name: [text] for name, text in example.row.items()}) for example in examples]
    return [plain(text or "") for (text,) in made] == [plain(example.wanted) for example in examples]


@settings(max_examples=150, deadline=None)
@given(_examples())
def test_programs_make_all_examples(examples):
    greedy = next(learn_greedily(examples, "a", ["a", "b"]), None)
    several = list(itertools.islice(learn(examples, "a", ["a", "b"]), 20))
    shortest = several[0] if several else None
    assert all(_makes(found, examples) for found in several)
    assert all(one.cost <= other.cost + 1e-9 for one, other in itertools.pairwise(several))
    assert greedy is None or _makes(greedy, examples)
    if shortest is not None:
        assert greedy is None or greedy.cost >= shortest.cost - 1e-9
    if greedy is not None and len(greedy.slots) < 10:
        assert shortest is not None
    if shortest is not None and len(shortest.slots) == 1:
        assert greedy is not None
        assert greedy.cost == shortest.cost  # one operator makes everything: nothing has more progress


def test_the_example_of_the_paper():
    examples = [Example({"a": source, "b": "47.0"}, wanted) for source, wanted in PRESIDENTS]
    found = next(learn_greedily(examples, "a", ["a", "b"]))
    assert len(found.slots) == 3
    assert _makes(found, examples)


def test_it_goes_back_where_the_most_progress_leads_nowhere():
    """The operator with most progress leaves what no operator makes, or too few operators are allowed."""
    examples = [Example({"a": "abcab xy"}, "xyzabcab"), Example({"a": "dedef uv"}, "uvzdedef")]
    found = next(learn_greedily(examples, "a", ["a"]))
    assert _makes(found, examples)
    blocked = [Example({"a": "ab cd"}, "abq"), Example({"a": "ef gh"}, "efr")]
    assert not list(learn_greedily(blocked, "a", ["a"]))
    assert not list(learn_greedily(examples, "a", ["a"], most_operators=2))
    assert not list(learn_greedily(examples, "a", ["a"], most_tried=1))


def test_two_tables_join_by_what_it_learns():
    left = {"name": [source for source, _ in PRESIDENTS]}
    right = {"who": [wanted for _, wanted in PRESIDENTS]}
    (learned,), work = vars(auto_join.learn_transformation(left, right, operators=4)).values()
    assert len(dovetail.join(left, right, by=learned).pairs) == 3
    assert work.examples >= work.programs >= 1 and work.operators >= 3
    assert auto_join.learn_transformation({"a": ["x", "y"]}, {"b": ["1", "2"]}).matches == []
