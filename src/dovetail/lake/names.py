"""Column names: distinct and stable, whatever the file says."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MADE_UP = re.compile(r"column_\d+(_\d+)?")


def is_made_up(name: str) -> bool:
    """Whether `distinct_names` has, or could have, given this name to a column without one."""
    return _MADE_UP.fullmatch(name) is not None


def distinct_names(cells: Iterable[str | None]) -> tuple[str, ...]:
    """Trimmed names; a blank one becomes `column_<position>`, a repeated one `name_2`, `name_3` …

    A name that the file itself uses is never given away: `a,a,a_2` becomes `a, a_3, a_2`.
    """
    wanted = [(cell or "").strip().strip("\ufeff\x00") for cell in cells]
    own = set(wanted)
    taken: set[str] = set()
    names = []
    for position, name in enumerate(wanted, start=1):
        base = name or f"column_{position}"
        candidate, count = base, 1
        while candidate in taken or (candidate != name and candidate in own):
            count += 1
            candidate = f"{base}_{count}"
        taken.add(candidate)
        names.append(candidate)
    return tuple(names)
