"""What inputs add to a prediction is measured on rows that were left out."""

from __future__ import annotations

import numpy as np

from dovetail.augment.rank import Target, encode_codes, encode_numbers

DRAW = np.random.default_rng(5)
ROWS = 400
CAUSE = DRAW.normal(size=ROWS)
NOISE = DRAW.normal(size=ROWS)
OUTCOME = (2 * CAUSE + 0.1 * DRAW.normal(size=ROWS))[:, None]


def test_a_cause_adds_and_noise_does_not():
    target = Target(OUTCOME, np.zeros((ROWS, 0)))
    assert target.explained == 0
    assert target.gain(encode_numbers(CAUSE)) > 0.8
    assert target.gain(encode_numbers(NOISE)) < 0.02
    assert target.gain(np.zeros((ROWS, 0))) == 0


def test_what_i_have_already_adds_nothing():
    target = Target(OUTCOME, encode_numbers(CAUSE))
    assert target.explained > 0.8
    assert target.gain(encode_numbers(CAUSE)) < 0.05


def test_a_number_for_each_row_adds_nothing():
    target = Target(OUTCOME, np.zeros((ROWS, 0)))
    assert target.gain(encode_codes(np.arange(ROWS))) < 0.02


def test_missing_values_are_inputs_of_their_own():
    encoded = encode_numbers(np.array([1.0, np.nan, 3.0]))
    assert encoded[:, -1].tolist() == [0, 1, 0]
    assert np.isfinite(encoded).all()
    assert encode_codes(np.array([4, -1, 4, 2])).tolist() == [[1, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]]
    assert encode_numbers(np.full(3, np.nan)).shape == (3, 0)
