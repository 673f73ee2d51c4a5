"""The arrays of the pieces pack, their writer and their reader side by side.

piece_hashes   32 bits of the hash of every piece, ascending, once for each group that holds it
piece_groups   the groups of the tokens pack that hold it, ascending for each piece
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dovetail._storage.pack import Pack, PackWriter
from dovetail._storage.packing import PackedRuns
from dovetail._storage.packing_kernels import most_packed
from dovetail._types import Array
from dovetail.errors import IndexDamaged

NAME = "pieces"
VERSION = 2


def write(pack: PackWriter, parts: Sequence[Array]) -> None:
    """`parts` together are ascending numbers, the hash in the upper half, the group in the lower."""
    for name, shift in (("piece_hashes", 32), ("piece_groups", 0)):
        packed = PackedRuns()
        for part in parts:
            packed.add((part >> np.uint64(shift)).astype(np.uint32))
        pack.add_packed(name, packed.finish())


class PieceArrays:
    """The arrays of an open pack, with their outer shape checked: kernels do not check bounds."""

    def __init__(self, pack: Pack, groups: int) -> None:
        pack.require(NAME, VERSION)
        self.hashes = pack.packed("piece_hashes")
        self.groups = pack.packed("piece_groups")
        if self.hashes.length != self.groups.length or most_packed(self.groups) >= groups:
            raise IndexDamaged(f"{pack.segment}/{pack.path.name} is damaged: a piece names a group that is not there.")
