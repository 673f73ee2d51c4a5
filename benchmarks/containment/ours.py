"""Dovetail's side: build a segment from the sets, and ask it. Each runs in a process of its own and prints JSON."""

from __future__ import annotations

import argparse
import json
import shutil
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from generate import Sets
from measuring import ask_all, now, peak_now, pss_now

from dovetail._storage.segment import Segment, SegmentRef, SegmentWriter
from dovetail.indexes.lsh_ensemble.index import LSH_ENSEMBLE
from dovetail.indexes.lsh_ensemble.query import LshEnsembleReader
from dovetail.indexes.protocol import ColumnChunk
from dovetail.indexes.tokens.index import TOKENS

_MEMORY = 2 << 30


def tokens_of(values: np.ndarray) -> pa.Array:
    return pa.array(values).cast(pa.large_string())


def build(sets: Sets, folder: Path) -> dict[str, float]:
    """A segment with tokens and sketches; seconds of each part, and bytes."""
    shutil.rmtree(folder, ignore_errors=True)
    scratch = folder / "scratch"
    scratch.mkdir(parents=True)
    all_tokens = tokens_of(sets.values)
    columns = len(sets.offsets) - 1
    before = pss_now()
    begun = now()
    writer = SegmentWriter(folder)
    tokens, sketches = TOKENS.builder(scratch, _MEMORY), LSH_ENSEMBLE.builder(scratch, _MEMORY)
    ones = np.ones(int(np.diff(sets.offsets).max()), np.int64)
    for column in range(columns):
        start, stop = int(sets.offsets[column]), int(sets.offsets[column + 1])
        tokens.add(ColumnChunk(column, all_tokens[start:stop], ones[: stop - start]))
    counts = tokens.finish(writer, [1] * columns)
    middle = now()
    sketches.finish(writer, [1] * columns)
    ended = now()
    ref = writer.finish({"tables": 0, **counts})
    (folder / "ref.json").write_text(json.dumps(ref.to_json()))
    segment = Segment(folder, ref)
    return {
        "tokens_seconds": middle - begun,
        "sketch_seconds": ended - middle,
        "memory_bytes": peak_now() - before,
        "tokens_bytes": segment.parts["tokens"]["bytes"],
        "sketch_bytes": segment.parts["lsh_ensemble"]["bytes"],
        "sketched": len(segment.pack("lsh_ensemble")["columns"]),
    }


def ask(queries: list[np.ndarray], folder: Path, thresholds: list[str], plan: str | None, verify: bool) -> object:
    """For every threshold and query the answers, and the seconds from its strings and from its looked-up groups on."""
    ref = SegmentRef.from_json(json.loads((folder / "ref.json").read_text()))
    begun = now()
    reader = LshEnsembleReader(Segment(folder, ref))
    opened = now() - begun
    asked = [tokens_of(query) for query in queries]
    before = pss_now()
    for forced in ("postings", "sketches"):
        reader.search(asked[0], Fraction(1, 2), plan=forced)  # kernels are loaded once in a process's life
    prepared = [reader.prepare(tokens) for tokens in asked]
    found = {}
    for threshold in thresholds:
        search = partial(reader.search, threshold=Fraction(threshold), verify=verify, plan=plan)
        hits, seconds = ask_all(search, asked)
        _, prepared_seconds = ask_all(search, prepared)
        found[threshold] = {
            "answers": [hit.columns.tolist() for hit in hits],
            "plans": ["+".join(hit.work.plans) for hit in hits],
            "seconds": seconds,
            "prepared_seconds": prepared_seconds,
        }
    return {"thresholds": found, "open_seconds": opened, "pss_open": before, "pss": pss_now()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["build", "ask"])
    parser.add_argument("sets", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--thresholds", nargs="*", default=[])
    parser.add_argument("--plan", choices=["postings", "sketches"])
    parser.add_argument("--unverified", action="store_true")
    options = parser.parse_args()
    if options.what == "build":
        sets = Sets.load(options.sets)
        some = np.searchsorted(sets.offsets, sets.offsets[-1] // 50)  # kernels are compiled once after installing
        build(Sets(sets.values, sets.offsets[: some + 1], sets.query_values, sets.query_offsets), options.folder)
        print(json.dumps(build(sets, options.folder)))
        return
    with np.load(options.sets) as arrays:  # only the queries: the sets would count as memory
        queries = np.split(arrays["query_values"], arrays["query_offsets"][1:-1])
    print(json.dumps(ask(queries, options.folder, options.thresholds, options.plan, not options.unverified)))


if __name__ == "__main__":
    main()
