"""What fuzzing has found stays mended: what it began with, and what made a target fail, are replayed."""

from __future__ import annotations

import contextlib
import importlib
import random
from pathlib import Path

import pytest

from fuzz import TARGETS

CORPUS = Path(__file__).with_name("corpus")
OFFLINE = [name for name in TARGETS if name != "requests"]  # that one starts a server
MUTATIONS = 20  # of each seed; arbitrary. `fuzz.py` is for more
LARGEST_CORPUS = 200_000  # bytes


@pytest.mark.parametrize("name", [*OFFLINE, pytest.param("requests", marks=pytest.mark.full)])
def test_inputs_are_read_or_refused(name):
    target = importlib.import_module(f"targets.{name}")
    with getattr(target, "OPEN", contextlib.nullcontext()):
        for seed in target.SEEDS:
            target.check(seed)
        for path in sorted((CORPUS / name).glob("*")):
            target.check(path.read_bytes())


@pytest.mark.parametrize("name", OFFLINE)
def test_inputs_with_some_bytes_changed_are_read_or_refused(name):
    target = importlib.import_module(f"targets.{name}")
    chance = random.Random(name)
    for seed in target.SEEDS:
        for _ in range(MUTATIONS):
            changed = bytearray(seed)
            for _ in range(chance.choice((1, 1, 2, 8))):
                at = chance.randrange(1, max(2, len(changed)))
                changed[at : at + chance.choice((0, 1, 1, 4))] = chance.randbytes(chance.choice((0, 1, 1, 4)))
            target.check(bytes(changed))


def test_the_corpus_is_small():
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < LARGEST_CORPUS
