"""The arrays of the josie pack, their writer and their reader side by side.

posting_positions   for every item of the tokens pack's posting_columns: how many tokens of that column, by id,
                    come before the group
costs               s0, s1, l0, l1 of Equation 3.15 in nanoseconds, measured where the segment was built
"""

from __future__ import annotations

from dovetail._storage.pack import Pack, PackWriter
from dovetail._storage.packing import narrow
from dovetail._types import Array
from dovetail.errors import IndexDamaged
from dovetail.indexes.josie.core import JosieCosts

NAME = "josie"
VERSION = 2


def write(pack: PackWriter, positions: Array, costs: Array) -> None:
    pack.add("posting_positions", narrow(positions))
    pack.add("costs", costs)


class JosieArrays:
    """The arrays of an open pack. Their lengths are checked where the tokens pack is known."""

    def __init__(self, pack: Pack) -> None:
        pack.require(NAME, VERSION)
        self._place = f"{pack.segment}/{pack.path.name}"
        self.positions = pack["posting_positions"]
        self._costs = pack["costs"]
        if len(self._costs) != len(JosieCosts._fields):
            raise IndexDamaged(f"{self._place} is damaged: it states {len(self._costs)} costs.")

    @property
    def costs(self) -> JosieCosts:
        return JosieCosts(*self._costs.tolist())

    def require_items(self, items: int) -> None:
        """Kernels do not check bounds: positions must be as many as postings."""
        if len(self.positions) != items:
            raise IndexDamaged(
                f"{self._place} is damaged: it has {len(self.positions)} positions for {items} postings."
            )
