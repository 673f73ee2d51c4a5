"""How likely a person would join two columns of texts by what tables of the lake say of their values."""

from __future__ import annotations

import numpy as np

from dovetail._model import load_model
from dovetail._types import Array
from dovetail.through.mapping import ValueMapping

LIKELY = 0.5  # a join through the lake is made unasked, and is a hit, if it is more likely right than wrong
FEATURES = ("certain", "partners")
"""Of a mapping: how likely its partners are, and how many different ones there are, on the side that has fewer."""


def how_likely(mapping: ValueMapping) -> float:
    return float(load_model("join_through", FEATURES).probability(mapping_features(mapping)))


def mapping_features(mapping: ValueMapping) -> Array:
    certain = float(np.mean([pair.probability for pair in mapping])) if mapping else 0.0
    partners = min(len({pair.value for pair in mapping}), len({pair.partner for pair in mapping}))
    return np.array([certain, np.log2(1 + partners) / 10])
