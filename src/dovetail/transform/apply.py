"""Several programs as one: each row gets the value of the first program that makes a wanted one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.transform.operators import Program

Normalise = Callable[[pa.Array], pa.Array]


def made_by(
    programs: Sequence[Program], columns: Mapping[str, Sequence[str | None]], normalise: Normalise, wanted: pa.Array
) -> pa.LargeStringArray:
    """Normalised values, one for each row of `columns`; null where no program makes one of those `wanted`."""
    rows = len(next(iter(columns.values())))
    found = pa.nulls(rows, pa.large_string())
    for program in programs:
        made = normalise(pa.array(program.apply(columns), pa.string())).cast(pa.large_string())
        found = pc.coalesce(found, pc.if_else(pc.is_in(made, wanted), made, None))
    return found
