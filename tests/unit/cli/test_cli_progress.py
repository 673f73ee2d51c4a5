"""Long questions: a bar on the terminal after a while, and Ctrl-C ends them at once, whatever they are doing."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from dovetail.cli import progress
from dovetail.cli.progress import long_question

VERB = """
import sys, time
import click
from dovetail.cli import main, progress
from dovetail.cli.verbs import cli
from dovetail._progress import in_threads
import numba
progress._PATIENCE = 0.2

@numba.njit(nogil=True)
def spin(number):
    total = 0
    for i in range(number):
        total += (total ^ i) % 7
    return total

def kernel(tell):
    spin(1)
    tell("spinning", 1, 4)
    print("begun", flush=True)
    spin(1 << 40)

def threads(tell):
    def work(item, should_stop):
        while not should_stop():
            time.sleep(0.01)
    tell("waiting", 1, 4)
    print("begun", flush=True)
    list(in_threads(2, work, range(9)))

def callback(tell):
    import ctypes
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda *_: time.sleep(0.001) or 0)
    many = (ctypes.c_int * 100_000)()
    print("begun", flush=True)
    ctypes.CDLL(None).qsort(many, ctypes.c_size_t(len(many)), ctypes.c_size_t(4), compare)

def deletion(tell):
    class Slow:
        def __del__(self):
            time.sleep(0.01)
    print("begun", flush=True)
    while True:
        Slow()

def draft(tell):
    from pathlib import Path
    from dovetail._output import whole_file
    with whole_file(Path(sys.argv[-1])) as place:
        place.write_text("half")
        print("begun", flush=True)
        time.sleep(30)

@click.command("long")
@click.argument("work")
@click.argument("file", required=False)
def long_command(work, file):
    with progress.long_question() as tell:
        globals()[work](tell)

cli.add_command(long_command)
main()
"""


def start(*arguments: object, **options) -> subprocess.Popen[str]:
    """The verb `long` in a process that listens to interrupts, which those in the background do not."""
    command = [sys.executable, "-c", VERB, "long", *map(str, arguments)]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    process = subprocess.Popen(
        command, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **options
    )
    assert process.stdout.readline() == "begun\n"
    return process


@pytest.mark.parametrize("work", ["kernel", "threads", "callback", "deletion"])
def test_an_interrupt_ends_it_within_a_second(work):
    process = start(work)
    time.sleep(0.2)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=10)
    assert time.monotonic() - begun < 3, "a second, and some more on a busy machine"
    assert (process.returncode, error) == (130, "Stopped.\n")


def test_an_interrupt_leaves_no_draft(tmp_path):
    (tmp_path / "out.csv").write_text("old")
    process = start("draft", tmp_path / "out.csv")
    assert len(list(tmp_path.iterdir())) == 2
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=10)
    assert (process.returncode, error) == (130, "Stopped.\n")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_a_bar_on_the_terminal():
    ours, theirs = pty.openpty()
    process = start("threads", stderr=theirs)
    os.close(theirs)
    shown = b""
    while b"25%" not in shown:
        shown += os.read(ours, 1000)
    assert b"Waiting" in shown
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130
    end = os.read(ours, 1000)
    assert b"\x1b[?25h" in end, "the cursor is shown again"
    assert end.endswith(b"\r\nStopped.\r\n")
    process.stdout.close()
    os.close(ours)


def test_nothing_is_shown_without_a_terminal(capfd, monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    with long_question() as tell:
        time.sleep(0.05)
        tell("working", 1, 2)
    assert capfd.readouterr() == ("", "")
