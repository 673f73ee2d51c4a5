"""The notebook runs from its first cell to its last, and shows tables, reasons and the picture of the graph."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

from support.pages import ROOT
from support.sample import SAMPLE_LAKE


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> list[str]:
    """The last output of each cell of code, as a notebook shows it."""
    folder = tmp_path_factory.mktemp("tour")
    (folder / "examples").mkdir()
    (folder / "sample-lake").symlink_to(SAMPLE_LAKE, target_is_directory=True)
    book = nbformat.read(ROOT / "examples" / "tour.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in book.cells), "outputs are not committed"
    NotebookClient(book, timeout=300, resources={"metadata": {"path": str(folder / "examples")}}).execute()
    return [str(cell.outputs[-1]) for cell in book.cells if cell.cell_type == "code" and cell.outputs]


def test_what_the_notebook_shows(shown):
    everything = "\n".join(shown)
    assert "59 tables, 73,124 rows" in everything
    for part in (
        "text/html",
        "<th>table</th>",
        "probability of a join",
        "Lima",
        "polars",
        "<iframe srcdoc=",
        "lower(trim(CAST(",
    ):
        assert part in everything, part
    assert "Nothing joins" not in everything and "column “name”" in everything
