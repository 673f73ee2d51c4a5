"""The oldest pyspark that Dovetail runs on, beside the newest numpy, pandas and pyarrow: the same index."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dovetail
from dovetail.indexes.verify import verify_index
from support.contents import contents_of
from support.pipeline import without_spark

PROGRAM = """
import sys
from pathlib import Path
import pyspark
import dovetail

assert pyspark.__version__.startswith("3.5."), pyspark.__version__
folder = Path(sys.argv[1])
dovetail.index(folder / "lake", folder / "idx", settings={"segment_mb": 1, "slice_mb": 1})
inds = dovetail.open(folder / "idx").inds(integers=True, non_unique=True, coverage=0, master="local[2]")
print(len(inds.to_dicts()))
"""


@pytest.mark.full
def test_the_same_index(tmp_path):
    """`make test-full` installs it into a folder of its own and names that."""
    oldest = Path(os.environ["OLDEST_SPARK"]).resolve()
    lake = tmp_path / "lake"
    lake.mkdir()
    for number in range(4):
        (lake / f"t{number}.csv").write_text("id,name\n" + "".join(f"{i},n{i * number}\n" for i in range(500)))
    rows = "".join(f'{i},"two\nlines {i % 7}",{i / 8}\n' for i in range(60_000))
    (lake / "big.csv").write_text("id,text,number\n" + rows)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(oldest), os.environ.get("PYTHONPATH", "")])}
    call = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    done = subprocess.run(call, env=environment, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr
    with without_spark():
        dovetail.index(lake, tmp_path / "here", settings={"segment_mb": 1, "slice_mb": 1})
    assert contents_of(tmp_path / "idx") == contents_of(tmp_path / "here")
    assert verify_index(tmp_path / "idx").problems == ()
    found = dovetail.open(tmp_path / "here").inds(integers=True, non_unique=True, coverage=0)
    assert int(done.stdout.splitlines()[-1]) == len(found.to_dicts()) > 0
