"""What clients may write in an address, with its limits and an example of each."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path, Query

from dovetail.methods import registry

_LONGEST = 2_000  # characters of a name or a glob; arbitrary, names of files are shorter

_TABLE_HELP = "A table of the lake by its id, an upload (upload-…) or a result (result-…)."
Name = Annotated[str, Query(min_length=1, max_length=_LONGEST)]
Table = Annotated[
    str, Query(min_length=1, max_length=_LONGEST, description=_TABLE_HELP, examples=["geo/countries.csv"])
]
Other = Annotated[
    str, Query(alias="with", min_length=1, max_length=_LONGEST, description=_TABLE_HELP, examples=["geo/capitals.csv"])
]
Tables = Annotated[
    list[Name],
    Query(
        alias="table",
        min_length=2,
        max_length=8,
        description=_TABLE_HELP,
        examples=[["geo/countries.csv", "geo/capitals.csv"]],
    ),
]
TablePath = Annotated[str, Path(min_length=1, max_length=_LONGEST, examples=["geo/countries.csv"])]
Globs = Annotated[
    list[Name],
    Query(max_length=20, description="Only tables whose id matches one of these globs.", examples=[["geo/*"]]),
]
Glob = Annotated[
    str, Query(max_length=_LONGEST, description="Only tables whose id matches this glob.", examples=["geo/*"])
]
Column = Annotated[str | None, Query(max_length=_LONGEST, description="A column; by default the only one.")]
On = Annotated[
    str | None,
    Query(max_length=_LONGEST, description="A column of the table, or several with commas between.", examples=["name"]),
]
OnPairs = Annotated[
    str | None,
    Query(max_length=_LONGEST, description="left=right, or several with commas between.", examples=["name=country"]),
]
K = Annotated[int | None, Query(ge=1, le=1_000, description="How many hits to find.", examples=[5])]
Most = Annotated[int, Query(ge=1, le=10_000, description="How many rows of the answer, best first.")]
Share = Annotated[float | None, Query(gt=0, le=1)]
Score = Annotated[float | None, Query(ge=0, le=1, description="The lowest score that counts.")]
Edges = Annotated[Literal["keys", "inds"], Query(description="Likely foreign keys, or inclusion dependencies.")]
Rows = Annotated[int, Query(ge=0, le=10_000, description="How many joined rows to return; 0 only counts them.")]
Offset = Annotated[int, Query(ge=0, le=10**12)]
Limit = Annotated[int, Query(ge=0, le=10_000)]
SearchBy = Annotated[registry.SearchBy, Query(description="The method.")]
JoinBy = Annotated[
    registry.JoinBy | None,
    Query(description="The method; by default what the values suggest."),
]
How = Annotated[Literal["inner", "left", "right", "outer", "semi", "anti"], Query(description="The kind of join.")]
Prefer = Annotated[str | None, Query(max_length=100, description="Which columns of equal values are best.")]
Examples = Annotated[
    list[Name],
    Query(alias="example", max_length=100, description="value=partner", examples=[["Japan=Tokyo", "Peru=Lima"]]),
]
Program = Annotated[str | None, Query(max_length=100_000, description="A transformation, as JSON, to join by.")]
Sql = Annotated[
    str,
    Query(
        min_length=1,
        max_length=100_000,
        description="A SELECT over the table, which is called result.",
        examples=["SELECT count(*) AS rows FROM result"],
    ),
]
Values = Annotated[
    list[Name] | None,
    Query(min_length=2, max_length=2, description="A value of the left column and one of the right."),
]
Value = Annotated[
    str | None, Query(max_length=_LONGEST, description="A value to find in any column.", examples=["Zürich"])
]
ColumnGlob = Annotated[
    str | None, Query(max_length=_LONGEST, description="Columns by name, a glob.", examples=["*country*"])
]
FileFormat = Annotated[Literal["csv", "parquet", "xlsx"], Path()]
