"""A PostgreSQL server of this machine's packages, in a folder of its own, that listens to nobody else."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from support.clusters import free_port

_PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


@contextlib.contextmanager
def postgres_server() -> Iterator[str]:
    """The address of a new database, whose user `dovetail` may do everything, by the password `not-to-be-seen`."""
    programs, port = _PROGRAMS[-1], free_port()
    with tempfile.TemporaryDirectory(prefix="pg-") as made:  # not below folders of pytest, which are private
        folder = Path(made)
        (folder / "password").write_text("not-to-be-seen")
        as_user = _as_another_user(folder)

        def run(program: str, *arguments: object) -> None:
            call = [*as_user, str(programs / program), "-D", str(folder / "data"), *map(str, arguments)]
            done = subprocess.run(
                call, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
            )
            assert done.returncode == 0, done.stdout

        run(
            "initdb",
            "-U",
            "dovetail",
            "-A",
            "scram-sha-256",
            "--no-sync",
            "--pwfile",
            folder / "password",
            "-E",
            "UTF8",
        )
        options = f"-p {port} -k {folder} -h 127.0.0.1 -c fsync=off"
        run("pg_ctl", "-o", options, "-l", folder / "log", "-w", "start")
        try:
            yield f"postgresql://dovetail@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-m", "immediate", "stop")


def _as_another_user(folder: Path) -> list[str]:
    """PostgreSQL does not run as root."""
    if os.geteuid():
        return []
    for path in (folder, folder / "password"):
        shutil.chown(path, "postgres")
    return ["runuser", "-u", "postgres", "--"]
