"""The arrays of the pexeso pack, their writer and their reader side by side.

    parameters                   embedder and abbreviations, as JSON
    text_tokens                  the ids of the tokens that are texts; a text's place is its position here

Of an embedder with sparse vectors, the texts ascend, and their coordinates are listed by dimension:

    list_starts                  where the list of each dimension and block of 4,096 texts begins, and the end
    postings                     the texts of the block that have the dimension, ascending, numbered from 0 within the
                                 block in 12 bits, and its weight in 4
    scales                       for each text its largest weight, of which the others are shares

Of one with dense vectors, the texts lie in clusters:

    cluster_starts               the first place of each cluster
    centres, radii               of each cluster, over the heads
    basis                        the principal axes, a column each
    heads                        for each text its coordinates on these axes, and the length of the rest
    vectors                      for each text its vector
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail._storage.pack import Pack, PackWriter
from dovetail._storage.packing import pack_numbers
from dovetail._types import Array
from dovetail.errors import IndexDamaged
from dovetail.indexes.pexeso.core import VectorParameters, space_of
from dovetail.indexes.pexeso.kernels import BLOCK

NAME = "pexeso"
VERSION = 3

_SPARSE = ("postings", "scales")
_DENSE = ("cluster_starts", "centres", "radii", "basis", "heads", "vectors")


def blocks_of(texts: int) -> int:
    """How many blocks so many texts are, at least one."""
    return max(1, -(-texts // BLOCK))


def list_starts(lengths: Array) -> Array:
    """Where the lists of each dimension and block begin, with the end of each dimension's last."""
    ends = np.cumsum(lengths).reshape(lengths.shape)
    return np.concatenate([ends[:, :1] - lengths[:, :1], ends], axis=1)


def write_head(pack: PackWriter, parameters: bytes, text_tokens: Array) -> None:
    pack.add("parameters", np.frombuffer(parameters, np.uint8))
    pack.add_packed("text_tokens", pack_numbers(text_tokens))


class PexesoArrays:
    """The arrays of an open pack, with their outer shape checked: kernels do not check bounds."""

    def __init__(self, pack: Pack) -> None:
        pack.require(NAME, VERSION)
        where = f"{pack.segment}/{pack.path.name}"
        try:
            self.parameters = VectorParameters.from_bytes(bytes(pack["parameters"]))
        except (ValueError, KeyError, TypeError) as broken:
            raise IndexDamaged(f"{where} is damaged: the parameters of its vectors are missing.") from broken
        self.space = space_of(self.parameters)
        self.dimension = self.space.embedder.dimension
        self.text_tokens = pack.unpacked("text_tokens")
        self.texts = len(self.text_tokens)
        self.is_sparse = self.space.is_sparse
        for name in _SPARSE if self.is_sparse else _DENSE:
            setattr(self, name, pack[name])
        if self.is_sparse:
            self.list_starts = pack.unpacked("list_starts")
        for problem in self._sparse_misfits() if self.is_sparse else self._dense_misfits():
            raise IndexDamaged(f"{where} is damaged: {problem}.")
        if not self.is_sparse:
            self._shape()

    list_starts: Array
    postings: Array
    scales: Array
    cluster_starts: Array
    centres: Array
    radii: Array
    basis: Array
    heads: Array
    vectors: Array

    def _sparse_misfits(self) -> Iterator[str]:
        starts = self.list_starts
        blocks = blocks_of(self.texts)
        if len(starts) != self.dimension * (blocks + 1) or starts[0] != 0 or starts[-1] != len(self.postings):
            yield "list_starts does not span its array"
        elif np.any(np.diff(starts) < 0) or np.any(starts[:: blocks + 1][1:] != starts[blocks :: blocks + 1][:-1]):
            yield "list_starts goes backwards"
        if len(self.scales) != self.texts:
            yield "scales has a wrong length"
        self.list_starts = starts.reshape(self.dimension, -1)

    def _dense_misfits(self) -> Iterator[str]:
        axes = len(self.basis) // self.dimension
        clusters = len(self.radii)
        starts = self.cluster_starts
        if len(starts) != clusters + 1 or starts[0] != 0 or starts[-1] != self.texts or np.any(np.diff(starts) < 0):
            yield "cluster_starts does not span its array"
        sizes = {"basis": axes * self.dimension, "centres": clusters * (axes + 1), "heads": self.texts * (axes + 1)}
        for name, size in (*sizes.items(), ("vectors", self.texts * self.dimension)):
            if len(getattr(self, name)) != size:
                yield f"{name} has a wrong length"

    def _shape(self) -> None:
        axes = len(self.basis) // self.dimension
        self.basis = self.basis.reshape(self.dimension, axes)
        self.centres = self.centres.reshape(-1, axes + 1)
        self.heads = self.heads.reshape(-1, axes + 1)
        self.vectors = self.vectors.reshape(-1, self.dimension)
