"""Which columns a user hides: left out altogether, or kept as keyed hashes.

A rule is a glob of column names, or of tables and column names: `*email*`, `crm/*:phone`. Case does not matter. Rules
are no part of a table's fingerprint: what they did to a table is kept with its layout, so that a table is read again
only where other rules would do something else to it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from dovetail.errors import InputError
from dovetail.lake.layout import Layout
from dovetail.lake.listing import Root, TableFile, matches

UNTOUCHED = '"excluded": [], "hashed": []'
"""What the JSON of every layout has to which no rule did anything."""


def check_rules(rules: Sequence[str]) -> None:
    """Refuse rules that can match nothing."""
    for rule in rules:
        if not _parsed(rule)[1]:
            raise InputError(f"{rule!r} names no column; write GLOB, or TABLES:GLOB such as 'crm/*:phone'.")


def with_column_rules(file: TableFile, root: Root) -> TableFile:
    """The file with the rules of its root that are about it, as globs of column names."""
    if not (root.exclude_columns or root.hash_columns):
        return file
    name = file.table.removeprefix(root.prefix)
    return replace(
        file,
        exclude_columns=_rules_for(name, root.exclude_columns),
        hash_columns=_rules_for(name, root.hash_columns),
    )


def hide_columns(layout: Layout, file: TableFile) -> Layout:
    """The layout of a table under the rules of its file."""
    named = [(place, _matching(name, file.exclude_columns)) for place, name in enumerate(layout.columns)]
    excluded = tuple((place, rule) for place, rule in named if rule is not None)
    kept = tuple(layout.columns[place] for place, rule in named if rule is None)
    keys = layout.declared.among(kept)
    return replace(layout, columns=kept, excluded=excluded, hashed=_hashed(kept, file), declared=keys)


def is_hidden_as_asked(layout: str, file: TableFile) -> bool:
    """Whether the rules of the file would do to the table what was done to it, as its layout, in JSON, says."""
    if not layout:
        return True
    found = Layout.from_json(json.loads(layout))
    if {rule for _, rule in found.excluded} - set(file.exclude_columns):
        return False
    return found.hashed == _hashed(found.columns, file) and not any(
        _matching(name, file.exclude_columns) for name in found.columns
    )


def _hashed(columns: Sequence[str], file: TableFile) -> tuple[str, ...]:
    return tuple(name for name in columns if _matching(name, file.hash_columns) is not None)


def _matching(name: str, rules: Sequence[str]) -> str | None:
    return next((rule for rule in rules if matches(name.casefold(), rule.casefold())), None)


def _rules_for(table: str, rules: Sequence[str]) -> tuple[str, ...]:
    parsed = map(_parsed, rules)
    return tuple(columns for tables, columns in parsed if not tables or matches(table, tables))


def _parsed(rule: str) -> tuple[str, str]:
    """The glob of tables, which may be empty, and that of columns."""
    tables, _, columns = rule.rpartition(":")
    return tables, columns
