"""What people write where there is no value. Plain data, as it reads after folding.

[1] F. Tschirschnitz, T. Papenbrock, F. Naumann: Detecting Inclusion Dependencies on Very Many Tables
(MANY). ACM TODS
    42(3), 2017, Table 2. :doi:`10.1145/3105959`
"""

from __future__ import annotations

NULL_MARKERS = (
    # [1], Table 2: among the 1,000 most frequent values of Wikipedia's tables. White space folds to "".
    "",
    "-",
    "–",
    "—",
    "--",
    "---",
    "n/a",
    "(n/a)",
    "?",
    "??",
    "•",
    "...",
    "…",
    "unknown",
    # Programs: SQL, Python, R, pandas, Excel, and the \N of MySQL and PostgreSQL dumps.
    "null",
    "(null)",
    "<null>",
    "none",
    "nan",
    "<na>",
    "#n/a",
    "\\n",
    # Statistical offices and statistics packages.
    ".",
    "..",
    "n.a.",
)
"""Null in every column."""

NOT_AVAILABLE = "na"
"""Null only where the other values are all numbers or dates: it is Namibia among country codes."""

SENTINELS = (
    "999",
    "9999",
    "99999",
    "999999",
    "-99",
    "-999",
    "-9999",
    "-99999",
    "-999999",
)
"""Tokens of numbers that stand for "missing": null only in a column of nothing but these and null markers."""

BOOLEANS = ("false", "true")
"""The only booleans: 0, 1, y, n, yes and no mean other things as well."""
