"""Spelling: the trigrams of a text's words, hashed into two thousand dimensions. No model is needed.

Typing errors, other word orders, endings and formats change few of a text's trigrams. Words with digits weigh more:
"2008 election" and "2012 election" are spelt nearly the same, and mean different things.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow.compute as pc

from dovetail._types import Array
from dovetail.embedders.calibration import Curves, load_calibration
from dovetail.embedders.ngram_kernels import hash_ngrams
from dovetail.embedders.protocol import Sparse, Texts, as_strings_array
from dovetail.normalise.hashing import as_buffers


class NGrams:
    name = "ngrams"
    version = 1
    dimension = 2048
    metric = "euclidean"

    @cached_property
    def calibration(self) -> Curves:
        return load_calibration(self.name, self.version)

    def embed(self, texts: Texts) -> Array:
        found = self.embed_sparse(texts)
        vectors = np.zeros((len(found), self.dimension), np.float32)
        vectors[np.repeat(np.arange(len(found)), np.diff(found.starts)), found.dimensions] = found.weights
        return vectors

    def embed_sparse(self, texts: Texts) -> Sparse:
        # Marks become characters of their own, which the kernel leaves out.
        folded = pc.utf8_normalize(pc.utf8_lower(as_strings_array(texts)), form="NFKD")
        return Sparse(*hash_ngrams(*as_buffers(folded), self.dimension))
