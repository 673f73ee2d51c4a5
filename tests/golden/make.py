"""Makes the golden index of the current format: `.venv/bin/python tests/golden/make.py`.

An index of a released format is never made again: it stays, and the tests open it for as long as Dovetail reads
that format.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from dovetail._storage.marker import FORMAT_VERSION
from dovetail.pipeline.maintain import remove_tables
from dovetail.settings import Settings
from support.pipeline import index, without_spark

TIME = 1_700_000_000  # of all files: the index holds it
LAKE = {
    "cities.csv": "city,country,founded,population\n"
    "Zürich,Switzerland,0015-01-01,447082\nGenève,Switzerland,,203856\nParis,France,,2102650\nNA,Namibia,,\n",
    "geo/countries.tsv": "iso\tname\tarea\nCH\tSwitzerland\t41285.0\nFR\tFrance\t643801.00\nNA\tNamibia\t825615\n",
    "ids.jsonl": '{"id": 12345678901234567890, "code": "00501", "deep": {"ok": true}}\n'
    '{"id": 12345678901234567891, "code": "00502", "deep": {"ok": false}}\n',
    "notes/quoted.csv": 'id,note\n1,"two\nlines"\n2,"say ""hi"""\n',
    "gone.csv": "city\nAtlantis\n",
    "broken.csv": "",
}


def make(to: Path) -> None:
    """An index of two segments, with a removed table and a file that is no table."""
    lake = Path(tempfile.gettempdir()) / "dovetail-golden-lake"  # the index holds its path
    for name, text in LAKE.items():
        (lake / name).parent.mkdir(parents=True, exist_ok=True)
        (lake / name).write_text(text, encoding="utf-8")
        os.utime(lake / name, (TIME, TIME))
    shutil.rmtree(to, ignore_errors=True)
    with without_spark():
        index(lake, to, settings=Settings(), tables=("*.csv",))
        index(lake, to, settings=Settings(), tables=("*",))
        remove_tables(to, ["gone.csv"])
    (to / "writer.lock").unlink()
    shutil.rmtree(lake)


if __name__ == "__main__":
    make(Path(__file__).parent / f"format-{FORMAT_VERSION}")
