"""What cannot be indexed, or written to, is refused in words."""

from __future__ import annotations

import pandas as pd
import pytest

import dovetail
from dovetail.errors import InputError


@pytest.mark.parametrize("lake", [pd.DataFrame({"a": [1]}), 42, ["here", 42]], ids=lambda lake: type(lake).__name__)
def test_a_lake_that_is_no_place(tmp_path, lake):
    with pytest.raises(InputError, match=r"`lake` is a \w+; it must be a folder, an address, or a list of these"):
        dovetail.index(lake, tmp_path / "idx")


def test_an_index_that_is_no_place(tmp_path):
    with pytest.raises(InputError, match="`to` is of type int: it must be the folder"):
        dovetail.index(tmp_path, 42)
