"""The tables on a sheet: rectangles of cells between empty rows and columns.

Titles and notes that stand apart are no tables: those have at least two rows and two columns. Where no rectangle has,
the whole sheet is one. A rectangle below another of the same width that begins as the other ends belongs to it: an
empty row is often there for the eye alone.
"""

from __future__ import annotations

from typing import NamedTuple

Cells = list[list[str]]


class Box(NamedTuple):
    """Rows and columns, each from the first to before the last."""

    top: int
    bottom: int
    left: int
    right: int


def tables_of(cells: Cells) -> list[Cells]:
    """The tables of a sheet, from top to bottom; `cells` are rows of equal length."""
    boxes = _boxes(cells, Box(0, len(cells), 0, len(cells[0]) if cells else 0))
    found = [box for box in boxes if box.bottom - box.top > 1 and box.right - box.left > 1]
    if not found and boxes:
        found = [_around(boxes)]
    return [[row for row in _inside(cells, box) if any(row)] for box in _put_together(cells, sorted(found))]


def _boxes(cells: Cells, box: Box) -> list[Box]:
    """Cut at empty rows, then at empty columns, until there are none."""
    rows = _runs([any(cells[row][box.left : box.right]) for row in range(box.top, box.bottom)], box.top)
    if len(rows) != 1:
        return [part for top, bottom in rows for part in _boxes(cells, Box(top, bottom, box.left, box.right))]
    top, bottom = rows[0]
    filled = [any(cells[row][column] for row in range(top, bottom)) for column in range(box.left, box.right)]
    columns = _runs(filled, box.left)
    if len(columns) != 1:
        return [part for left, right in columns for part in _boxes(cells, Box(top, bottom, left, right))]
    return [Box(top, bottom, *columns[0])]


def _runs(filled: list[bool], offset: int) -> list[tuple[int, int]]:
    """From where to where there is something."""
    edges = [place for place in range(len(filled) + 1) if _at(filled, place) != _at(filled, place - 1)]
    return [(offset + first, offset + last) for first, last in zip(edges[::2], edges[1::2], strict=True)]


def _at(filled: list[bool], place: int) -> bool:
    return 0 <= place < len(filled) and filled[place]


def _around(boxes: list[Box]) -> Box:
    tops, bottoms, lefts, rights = zip(*boxes, strict=True)
    return Box(min(tops), max(bottoms), min(lefts), max(rights))


def _inside(cells: Cells, box: Box) -> Cells:
    return [row[box.left : box.right] for row in cells[box.top : box.bottom]]


def _put_together(cells: Cells, boxes: list[Box]) -> list[Box]:
    made: list[Box] = []
    for box in boxes:
        above = next((place for place, other in enumerate(made) if _goes_on(cells, other, box)), None)
        if above is None:
            made.append(box)
        else:
            made[above] = made[above]._replace(bottom=box.bottom)
    return made


def _goes_on(cells: Cells, above: Box, box: Box) -> bool:
    """Whether the first row of a box has numbers where the last row of that above has them, and somewhere at all."""
    if (above.left, above.right) != (box.left, box.right) or above.bottom > box.top:
        return False
    last = [_is_number(cell) for cell in cells[above.bottom - 1][box.left : box.right]]
    first = [_is_number(cell) for cell in cells[box.top][box.left : box.right]]
    return any(last) and last == first


def _is_number(text: str) -> bool:
    return bool(text) and text.lstrip("+-")[:1].isdigit()
