"""The file that spark-submit is given, on a cluster, from an object store into an object store."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import venv
from collections.abc import Sequence
from pathlib import Path

import numpy
import pytest

import dovetail
from dovetail import _objects
from dovetail.indexes.verify import verify_index
from support.buckets import s3_server
from support.clusters import SPARK, alike, cluster, environment
from support.contents import contents_of
from support.pipeline import without_spark

PROGRAM = Path(__file__).parents[2] / "examples" / "dovetail_submit.py"


@pytest.fixture
def lake(tmp_path) -> Path:
    folder = tmp_path / "lake"
    folder.mkdir()
    for number in range(6):
        rows = "".join(f"{i},n{i * number}\n" for i in range(2_000))
        (folder / f"t{number}.csv").write_text("id,name\n" + rows)
    (folder / "broken.csv").write_bytes(b"\x00" * 500)
    return folder


def bare_python(folder: Path) -> Path:
    """An interpreter with all that Dovetail needs, and without Dovetail."""
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(str(Path(numpy.__file__).parents[1]))
    python = folder / "bin" / "python"
    assert subprocess.run([python, "-c", "import numba, pandas, pyarrow, obstore"], check=False).returncode == 0
    assert subprocess.run([python, "-c", "import dovetail"], capture_output=True, check=False).returncode != 0
    return python


def archive(path: Path) -> Path:
    """The package, with the machine code that this machine has of its kernels."""
    with tarfile.open(path, "w:gz", compresslevel=1) as made:
        made.add(Path(dovetail.__file__).parent, "dovetail")
    return path


def submit(options: Sequence[object], *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    call = [SPARK / "bin" / "spark-submit", *options, PROGRAM, *arguments]
    without = {name: value for name, value in environment(**variables).items() if name != "PYSPARK_PYTHON"}
    return subprocess.run(
        list(map(str, call)), env=without, capture_output=True, text=True, check=False, timeout=240, cwd="/"
    )


@pytest.mark.full
def test_from_store_to_store_with_a_package_that_is_shipped(lake, tmp_path, monkeypatch):
    with without_spark():
        dovetail.index(lake, tmp_path / "here")
    python = bare_python(tmp_path / "bare")
    given = ["index", "s3://bucket/raw", "--to", "s3://bucket/index"]
    with s3_server("bucket", tmp_path / "server.log") as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path / "cache"))
        _objects.client.cache_clear()
        for path in lake.iterdir():
            _objects.Objects("s3://bucket/raw").put(path.name, path.read_bytes())
        with cluster(tmp_path, variables, variables) as address:
            options = ["--master", address, "--conf", f"spark.pyspark.driver.python={sys.executable}"]
            options += ["--conf", f"spark.pyspark.python={python}"]
            done = submit(options, *given)
            assert done.returncode == 2, done.stderr
            said = done.stdout + done.stderr  # spark-submit prints what the program says as an error, too
            assert "lacks the package dovetail-lake; the driver has" in said
            assert "Install it on every worker, or ship it with --archives." in said
            assert "Traceback" not in said
            options += ["--archives", f"{archive(tmp_path / 'package.tar.gz')}#package"]
            options += ["--conf", "spark.executorEnv.PYTHONPATH=package"]
            done = submit(options, *given)
            assert done.returncode == 0, done.stderr + (tmp_path / "cluster.log").read_text()
            assert "7 new files" in done.stdout
            assert "not-to-be-seen" not in done.stdout + done.stderr
        assert alike(contents_of("s3://bucket/index")) == alike(contents_of(tmp_path / "here"))
        assert verify_index("s3://bucket/index").problems == ()
    _objects.client.cache_clear()
