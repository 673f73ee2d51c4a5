"""The lists pack has the arrays of the tokens pack, of the parts of cells that hold several values.

A column whose cells each hold one value has an empty set in it.
"""

from __future__ import annotations

NAME = "lists"
VERSION = 1
