"""What a table is called, by its id: without folders, suffix, schema, and the file or database that holds it."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.lake.containers.registry import PAGE_SUFFIXES, SEPARATOR, is_container
from dovetail.lake.formats import COMPRESSION_BY_SUFFIX, FORMAT_BY_SUFFIX, split_suffix

_PART_OF_PAGE = re.compile(r"/\d+$")  # one of several tables of a sheet
_UNNAMED = re.compile(r"[^\W\d_]* ?\d+")  # as spreadsheets call new sheets, in any language, and pages their tables

# A file of one table; files that hold several have two colons in the ids of these.
_PLAIN = rf"(?i)^([^:]|:[^:])*({'|'.join(map(re.escape, (*FORMAT_BY_SUFFIX, *COMPRESSION_BY_SUFFIX)))})$"


def stem_of(table: str) -> str:
    """`orders` of `sales/orders.csv`, `public.orders`, `shop.sqlite::orders` and `orders.xlsx::Sheet1`."""
    holder, _, member = table.rpartition(SEPARATOR)
    if holder.lower().endswith(PAGE_SUFFIXES):
        member = _PART_OF_PAGE.sub("", member)
        return stem_of(holder) if _UNNAMED.fullmatch(member) else member
    name = member.rpartition("/")[2]
    return split_suffix(name)[0] if _is_file(name) else name.rpartition(".")[2] or name


def folders_of(table: str) -> list[str]:
    """What holds a table, the outermost first: folders, a file of several tables, a schema."""
    parts = table.replace(SEPARATOR, "/").split("/")
    schemas = [] if _is_file(parts[-1]) else parts[-1].split(".")[:-1]
    return [*parts[:-1], *schemas]


def holder_of(table: str) -> str:
    """The database, the file of several tables or the folder that holds a table."""
    return table.rpartition(SEPARATOR if SEPARATOR in table else "/")[0]


def _is_file(name: str) -> bool:
    suffix = split_suffix(name)[1]
    return suffix in FORMAT_BY_SUFFIX or suffix in COMPRESSION_BY_SUFFIX or is_container(name)


def stems_of(tables: pa.Array) -> pa.Array:
    """The same for many; those of plain files take a millionth of a second each."""
    stems = pc.replace_substring_regex(tables, r"^.*/|\.[^./]*$", "")
    others = pc.invert(pc.match_substring_regex(tables, _PLAIN))
    if not pc.any(others).as_py():
        return stems
    return pc.replace_with_mask(stems, others, pa.array(map(stem_of, tables.filter(others).to_pylist()), pa.string()))
