"""An open index holds one file descriptor, however many segments it has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.many_segments import multiply_segment
from support.pipeline import index, without_spark

SEGMENTS = 2_000
LIMIT = 1_024

ASK = """
import json, os, resource, sys, time
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[2]),) * 2)
import dovetail
def descriptors():
    return len(os.listdir("/proc/self/fd"))
before = descriptors()
begun = time.perf_counter()
lake = dovetail.open(sys.argv[1])
opened = time.perf_counter() - begun
held = descriptors() - before
hits = lake.search(["Paris", "Oslo"], on="values", k=5, copies=True)
print(json.dumps({"held": held, "seconds": opened, "hits": len(hits), "after": descriptors() - before}))
"""


@pytest.fixture
def many(tmp_path) -> Path:
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "a.csv").write_text("city,people\nParis,2102650\nOslo,709037\nRome,2755309\n")
    with without_spark():
        index(tmp_path / "lake", tmp_path / "idx")
    multiply_segment(tmp_path / "idx", SEGMENTS)
    return tmp_path / "idx"


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts descriptors under /proc")
def test_many_segments_open_and_answer_within_the_usual_limit(many):
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(many), str(LIMIT)], capture_output=True, text=True, env=os.environ, check=False
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["held"] == found["after"] == 1
    assert found["hits"] == 5
