"""The peer's side: datasketch's MinHashLSHEnsemble over the same sets. Prints JSON.

Its index is made for one threshold, so it is built anew for each. What sketching a query takes is told apart from what
asking takes. Verification is a loop over Python sets.
"""

from __future__ import annotations

import argparse
import json
import pickle
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
from datasketch import MinHash, MinHashLSHEnsemble
from generate import Sets
from measuring import ask_all, now, pss_now

_PERMUTATIONS = 128


def sketch(values: list[bytes]) -> MinHash:
    found = MinHash(num_perm=_PERMUTATIONS)
    found.update_batch(values)
    return found


def as_bytes(values: np.ndarray) -> list[bytes]:
    return [str(value).encode() for value in values.tolist()]


def measure(sets: Sets, thresholds: list[str], partitions: int, keep: Path) -> object:
    columns = [as_bytes(sets.column(number)) for number in range(len(sets.offsets) - 1)]
    queries = [as_bytes(query) for query in sets.queries()]
    begun = now()
    sketches = [sketch(values) for values in columns]
    sketch_seconds = now() - begun
    asked, query_sketch_seconds = ask_all(sketch, queries)
    members = [frozenset(values) for values in columns]
    query_sets = [frozenset(values) for values in queries]
    found = {}
    for threshold in thresholds:
        begun = now()
        index = MinHashLSHEnsemble(threshold=float(threshold), num_perm=_PERMUTATIONS, num_part=partitions)
        index.index([(n, sketches[n], len(values)) for n, values in enumerate(columns)])
        build_seconds = now() - begun
        found[threshold] = {"build_seconds": build_seconds, **ask(index, asked, query_sets, members, threshold)}
        if threshold == thresholds[0]:
            pss = fresh_pss(index, asked, query_sets, keep)
        del index
    return {
        "thresholds": found,
        "sketch_seconds": sketch_seconds,
        "query_sketch_seconds": query_sketch_seconds,
        "pss": pss,
    }


def ask(
    index: MinHashLSHEnsemble,
    asked: list[MinHash],
    queries: list[frozenset[bytes]],
    members: list[frozenset[bytes]],
    threshold: str,
) -> dict[str, list[object]]:
    ratio = Fraction(threshold)

    def find(number: int) -> set[int]:
        return set(index.query(asked[number], len(queries[number])))

    def find_and_verify(number: int) -> list[int]:
        query = queries[number]
        need = -(-ratio.numerator * len(query) // ratio.denominator)
        return [column for column in find(number) if len(query & members[column]) >= need]

    candidates, bare = ask_all(find, range(len(queries)))
    answers, verified = ask_all(find_and_verify, range(len(queries)))
    return {
        "candidates": [sorted(found) for found in candidates],
        "answers": [sorted(found) for found in answers],
        "seconds": bare,
        "verified_seconds": verified,
    }


def fresh_pss(index: MinHashLSHEnsemble, asked: list[MinHash], queries: list[frozenset[bytes]], file: Path) -> int:
    """The memory of a process that has nothing but the index and the queries' sketches, after asking."""
    with file.open("wb") as out:
        pickle.dump((index, [(m, len(q)) for m, q in zip(asked, queries, strict=True)]), out, protocol=5)
    command = [sys.executable, __file__, str(file), "--loaded"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    file.unlink()
    return int(output)


def ask_loaded(file: Path) -> int:
    with file.open("rb") as kept:
        index, queries = pickle.load(kept)
    for minhash, size in queries:
        list(index.query(minhash, size))
    return pss_now()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=Path)
    parser.add_argument("--thresholds", nargs="*", default=[])
    parser.add_argument("--partitions", type=int, default=32, help="as many as ours, the paper's most")
    parser.add_argument("--loaded", action="store_true", help="the file is a kept index: ask it and tell the memory")
    options = parser.parse_args()
    if options.loaded:
        print(ask_loaded(options.sets))
        return
    keep = options.sets.with_suffix(".pickle")
    print(json.dumps(measure(Sets.load(options.sets), options.thresholds, options.partitions, keep)))


if __name__ == "__main__":
    main()
