"""Long questions: a bar on the terminal after a while, and Ctrl-C ends them at once, whatever they are doing."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time

import click
import pytest

from dovetail.cli import progress
from dovetail.cli.progress import long_question

VERB = """
import sys, time
import click
from dovetail.cli import progress
from dovetail.cli.main import cli, run
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

def swallowed(tell):
    print("begun", flush=True)
    try:
        time.sleep(30)
    except KeyboardInterrupt:
        pass
    time.sleep(0.05)
    raise AttributeError("partially initialized module")

@click.command("long")
def long_command():
    with progress.long_question() as tell:
        {"kernel": kernel, "threads": threads, "swallowed": swallowed}[sys.argv[-1]](tell)

cli.add_command(long_command)
sys.exit(run(["long"]))
"""


@pytest.mark.parametrize("how", ["kernel", "threads", "swallowed"])
def test_an_interrupt_ends_it_within_a_second(how):
    process = subprocess.Popen(
        [sys.executable, "-c", VERB, how], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.2)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=10)
    assert time.monotonic() - begun < 3, "a second, and some more on a busy machine"
    assert (process.returncode, error) == (130, "Stopped; nothing was changed.\n")


def test_a_bar_on_the_terminal():
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", VERB, "threads"], stdout=subprocess.PIPE, stderr=theirs, text=True
    )
    os.close(theirs)
    assert process.stdout.readline() == "begun\n"
    shown = b""
    while b"25%" not in shown:
        shown += os.read(ours, 1000)
    assert b"Waiting" in shown
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130
    process.stdout.close()
    os.close(ours)


def test_nothing_is_shown_without_a_terminal(capfd, monkeypatch):
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    with long_question() as tell:
        time.sleep(0.05)
        tell("working", 1, 2)
    assert capfd.readouterr() == ("", "")


def test_an_interrupt_of_ours_is_an_exit_code(capsys):
    with pytest.raises(click.exceptions.Exit) as ended, long_question():
        raise KeyboardInterrupt
    assert ended.value.exit_code == 130
    assert capsys.readouterr().err == "Stopped; nothing was changed.\n"
