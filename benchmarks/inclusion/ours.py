"""Inclusion dependencies from an existing index, without filters or with, alone in its process, as JSON."""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import time
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

from dovetail.api.lake import Lake
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph.inclusion import NO_FILTERS, ColumnPairs, InclusionFilters, InclusionFinder, InclusionQuery
from dovetail.graph.inclusion_dependencies import InclusionDependencies
from dovetail.papers.many import BloomParameters, SignatureFinder

_NONE = InclusionQuery(
    InclusionFilters(coverage=Fraction(1))
)  # few dependencies, to compile what ranks and writes them


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("index", type=Path)
    parser.add_argument("--filters", action="store_true", help="the default filters")
    parser.add_argument("--signatures", metavar="M,K,P,STRATEGY", help="propose by Bloom signatures")
    parser.add_argument("--check", action="store_true", help="also a checksum of the dependencies")
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="from opening the index on again: find, rank and write them"
    )
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    question = InclusionQuery(InclusionFilters() if given.filters else NO_FILTERS)
    signatures = None
    if given.signatures:
        bits, hashes, passes, strategy = given.signatures.split(",")
        signatures = BloomParameters(int(bits), int(hashes), int(passes), strategy)
    find(given.index, question, given.threads, signatures)  # compiles what is not compiled yet
    begun, cpu = time.perf_counter(), time.process_time()
    inclusions, found = find(given.index, question, given.threads, signatures)
    answer = {
        "seconds": time.perf_counter() - begun,
        "cpu": time.process_time() - cpu,
        "columns": int(inclusions.columns.alive.sum()),
        "sets": len(inclusions.sets),
        "candidates": inclusions.work.candidates if isinstance(inclusions, SignatureFinder) else None,
        "dependencies": found,
    }
    if given.write:
        InclusionDependencies(find(given.index, _NONE, 1, None)[0]).write(given.write)
        begun, cpu = time.perf_counter(), time.process_time()
        inclusions = finder(given.index, question, given.threads, signatures)
        InclusionDependencies(inclusions).write(given.write)
        answer |= {"whole_seconds": time.perf_counter() - begun, "whole_cpu": time.process_time() - cpu}
        answer["written_bytes"] = given.write.stat().st_size
    answer["peak_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if given.check:
        answer["checksum"] = checksum(inclusions.columns, inclusions)
    print(json.dumps(answer))


def find(
    index: Path, question: InclusionQuery, threads: int, signatures: BloomParameters | None
) -> tuple[InclusionFinder, int]:
    """From opening the index to the last pair of columns."""
    inclusions = finder(index, question, threads, signatures)
    return inclusions, sum(len(pairs) for pairs in inclusions)


def finder(index: Path, question: InclusionQuery, threads: int, signatures: BloomParameters | None) -> InclusionFinder:
    columns = LakeColumns(Lake(index).segments)
    if signatures:
        return SignatureFinder(columns, question, signatures, threads)
    return InclusionFinder(columns, question, threads)


def checksum(columns: LakeColumns, found: Iterable[ColumnPairs]) -> str:
    """As the peer's: the same for the same dependencies in any order."""
    first: dict[int, int] = {}
    for number, table in enumerate(columns.table_of.tolist()):
        first.setdefault(table, number)
    tables = columns.table_names.to_pylist()
    names = [f"{tables[t]}:{number - first[t]}" for number, t in enumerate(columns.table_of.tolist())]
    total = 0
    for pairs in found:
        for one, other in zip(pairs.dependent.tolist(), pairs.referenced.tolist(), strict=True):
            line = f"{names[one]}<{names[other]}"
            total += int.from_bytes(hashlib.blake2b(line.encode(), digest_size=8).digest(), "little")
    return f"{total % (1 << 64):016x}"


if __name__ == "__main__":
    main()
