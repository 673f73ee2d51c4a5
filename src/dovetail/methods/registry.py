"""All methods, in the order in which they are shown: what each is called, and what it can do.

Requests, the command line, REST, tools and pages take the names and labels from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from dovetail.errors import InputError


class Method(NamedTuple):
    name: str  # as in `by="equal"`
    label: str  # in a sentence or a list: how values match
    searches: bool = True  # whether an index can be asked by it
    one_pair: bool = False  # whether it joins on one pair of columns only
    needs_lake: bool = False  # whether a join needs an index


EQUAL = Method("equal", "equal values")
PARTS = Method("parts", "parts of cells", one_pair=True)
TRANSFORM = Method("transform", "after a transformation")
SIMILAR = Method("similar", "similar values", searches=False)
SEMANTIC = Method("semantic", "similar spelling or meaning", one_pair=True)
THROUGH = Method("through", "through other tables of the lake", one_pair=True, needs_lake=True)
METHODS = (EQUAL, PARTS, TRANSFORM, SIMILAR, SEMANTIC, THROUGH)

JOIN_METHODS = tuple(method.name for method in METHODS)
SEARCH_METHODS = tuple(method.name for method in METHODS if method.searches)
LABELS = {method.name: method.label for method in METHODS}
if TYPE_CHECKING:
    SearchBy: TypeAlias = str
    JoinBy: TypeAlias = str
else:  # what requests of the server are checked against
    SearchBy, JoinBy = Literal[SEARCH_METHODS], Literal[JOIN_METHODS]


def method_called(name: str, names: tuple[str, ...] = JOIN_METHODS) -> Method:
    """The method with this name, which must be one of `names`."""
    if name not in names:
        raise InputError(f"`by` is {name!r}; it must be one of {', '.join(names)}.")
    return METHODS[JOIN_METHODS.index(name)]
