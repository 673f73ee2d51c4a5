"""The ways of a question are declared once: their names and parameters are checked in one place."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from dovetail.errors import InputError
from dovetail.graph.signatures import BloomParameters
from dovetail.ways import AUTO, WAYS, ChosenWay, choose_way


def test_auto_needs_nothing():
    for question in WAYS:
        assert choose_way(question) == ChosenWay(AUTO, {})


def test_parameters_have_their_defaults():
    assert choose_way("inds", "signatures").parameters == asdict(BloomParameters())
    chosen = choose_way("inds", "signatures", {"bits": 99, "strategy": "ref2deps"})
    assert BloomParameters(**chosen.parameters) == BloomParameters(bits=99, strategy="ref2deps")


@pytest.mark.parametrize("question", WAYS)
def test_an_unknown_way_gets_the_list(question):
    with pytest.raises(InputError) as refusal:
        choose_way(question, "magic")
    names = ", ".join([AUTO, *(way.name for way in WAYS[question])])
    assert str(refusal.value) == f"There is no way 'magic' of {question}. The ways are: {names}."


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        (AUTO, {"bits": 1}, "The way 'auto' of inds has no setting 'bits'. It has none."),
        (
            "signatures",
            {"pivots": 1},
            "The way 'signatures' of inds has no setting 'pivots'. "
            "Its settings are: bits, hashes, passes, strategy, vectors.",
        ),
        ("signatures", {"bits": 0}, "bits is 0; it must be a whole number of at least 1 (bits of a signature"),
        ("signatures", {"bits": "many"}, "bits is 'many'; it must be a whole number"),
        ("signatures", {"strategy": "both"}, "strategy is both; it must be one of dep2refs, ref2deps ("),
    ],
)
def test_parameters_that_are_not_allowed(name, settings, sentence):
    with pytest.raises(InputError) as refusal:
        choose_way("inds", name, settings)
    assert str(refusal.value).startswith(sentence)
