"""--memory: every command takes it, and stops with a sentence before it takes more."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from dovetail._memory import parse_size, tree_bytes
from dovetail.cli.verbs import VERBS
from dovetail.errors import InputError
from dovetail.pipeline.budget import Budget
from dovetail.settings import DEFAULTS, MB, Settings
from support.command import dovetail

HUNGRY = """
import contextlib, sys, time
import click
import numpy as np
from dovetail.cli import interrupt, memory, verbs

@click.command(params=[memory.memory_option])
def eat():
    with interrupt.stops_in_order() if sys.argv[1] == "writes" else contextlib.nullcontext():
        kept = []
        while True:
            kept.append(np.ones(200_000))
            time.sleep(0.005)

verbs.cli.get_command = lambda context, name: eat
interrupt.end_at_interrupt()
code = verbs.run(["eat", "--memory", "300MB"])
print("ended in order", flush=True)
sys.exit(code)
"""


@pytest.mark.parametrize(
    ("written", "size"), [("512MB", 512 * 10**6), ("2GB", 2 * 10**9), ("1.5g", 1.5 * 10**9), (" 900 kb ", 9 * 10**5)]
)
def test_sizes(written, size):
    assert parse_size(written) == size


@pytest.mark.parametrize("written", ["", "0", "many", "-1GB", "1PB", "2 3GB", "0.2"])
def test_no_sizes(written):
    with pytest.raises(InputError, match="is no size such as 512MB or 2GB"):
        parse_size(written)


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_takes_it(verb):
    answer = dovetail(verb, "--memory", "lots")
    assert answer.code == 2
    assert answer.err == "The memory 'lots' is no size such as 512MB or 2GB.\n"


@pytest.mark.parametrize("how", ["asks", "writes"])
def test_what_takes_more_is_stopped_before(how):
    process = subprocess.Popen(
        [sys.executable, "-c", HUNGRY, how], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    most, watched = 0, psutil.Process(process.pid)
    while process.poll() is None:
        most = max(most, tree_bytes(watched))
    said, complained = process.communicate()
    assert process.returncode == 2, complained
    assert complained.lstrip().startswith("Stopped: this needs more memory than --memory 300MB allows (")
    assert len(complained.strip().splitlines()) == 1
    assert (said == "ended in order\n") == (how == "writes")
    assert 200 * MB < most <= 300 * MB


def test_memory_of_children_counts_once():
    before = tree_bytes(psutil.Process())
    program = "kept = bytearray(b'1') * 50_000_000; print('ready', flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", program], **pipes) as child:
        assert child.stdout.readline() == b"ready\n"  # before, it may still be a copy of this process
        grown = tree_bytes(psutil.Process()) - before
        child.communicate(b"\n")
    assert 50_000_000 <= grown < 90_000_000


def test_a_run_has_as_many_workers_as_fit():
    assert [Budget(mb, 8).workers for mb in (1_200, 2_000, 2_650, 100_000)] == [1, 2, 3, 8]
    small = Budget(1_200, 8).settings(Settings(slice_mb=7))
    assert small.slice_mb == 7 and small.segment_mb < DEFAULTS.segment_mb and small.memory_mb < DEFAULTS.memory_mb
    assert Budget(100_000, 8).settings(DEFAULTS) == DEFAULTS
    with pytest.raises(InputError, match="Indexing needs at least 1200 MB"):
        Budget.of(1_000 * MB)
