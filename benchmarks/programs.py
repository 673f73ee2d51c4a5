"""Every benchmark that `make bench` runs: its command, the data it needs and how long it takes."""

from __future__ import annotations

import re
from dataclasses import dataclass

PLACE = re.compile(r"\{(\w+)\}")

GIVEN = {
    "lake": "a folder of tables, such as 15,000 of open data",
    "index": "an index of that lake",
    "truth": "pairs of tables whose joins are known, in relational, transform_pairs, fuzzy_pairs and semantic_pairs",
    "values": "a text file with a value on each line",
    "desbordante": "a Python that has desbordante and pandas, whose requirements do not fit beside ours",
    "pieces": "pieces of tables as union/splits.py makes them; --index has them, too",
}
"""Data that has to be given, as an option of the same name."""

MADE = {
    "generated": "python benchmarks/indexing/generate.py {to} --tables 10000 --gigabytes 2 --seed 1",
    "small": "python benchmarks/indexing/generate.py {to} --tables 300 --gigabytes 0.03 --seed 1",
    "tpch": "tpchgen-cli csv -s 0.1 --output-dir {to}",
    "tiny_tpch": "tpchgen-cli csv -s 0.02 --output-dir {to}",
    "sample": "dovetail index sample-lake --to {to}",
    "strangers": "cp -r {index} {to} && dovetail index {truth}/relational --to {to} --add",
}
"""Data that is made once, of given data or of none, and kept in the folder of the results."""


def needs_of(command: str) -> set[str]:
    """The data that a command names."""
    return set(PLACE.findall(command)) - {"work", "to"}


@dataclass(frozen=True)
class Benchmark:
    """A program with its options; `{name}` stands for data, `{work}` for a new empty folder."""

    name: str
    page: str
    """Of docs/benchmarks, where its results are discussed."""
    command: str
    minutes: float
    """About, on two cores."""
    quick: str = ""
    """The same on little data, for `make bench-quick`; none where little data says nothing."""
    quick_minutes: float = 0

    def needs(self, quick: bool) -> set[str]:
        """The data of the command, and those that they are made of."""
        named = needs_of(self.quick if quick else self.command)
        return named.union(*(needs_of(MADE[name]) for name in named & set(MADE)))


BENCHMARKS = (
    Benchmark(
        "indexing", "indexing", "indexing/run.py --lake {generated}", 20, "indexing/run.py --lake {small} --rounds 1", 1
    ),
    Benchmark("indexing-growth", "indexing", "indexing/growth.py --lake {generated}", 10),
    Benchmark("huge-file", "indexing", "indexing/huge.py --megabytes 200", 8),
    Benchmark("segments", "indexing", "segments/latency.py --lake {lake}", 10),
    Benchmark(
        "growth-web",
        "growth",
        "growth/run.py web --tables 1000 3162 10000 31623 100000 --work {work} --remove",
        90,
        "growth/run.py web --tables 100 300 --work {work} --remove",
        2,
    ),
    Benchmark(
        "growth-open",
        "growth",
        "growth/run.py open_data --scale 0.1 --tables 1000 3162 10000 --work {work} --remove",
        60,
    ),
    Benchmark(
        "growth-enterprise", "growth", "growth/run.py enterprise --tables 100 316 1000 --work {work} --remove", 60
    ),
    Benchmark("planning", "indexing", "indexing/planning.py", 2, "indexing/planning.py --files 100000", 0.2),
    Benchmark("reading", "indexing", "reading/run.py --lake {lake} --peers 400", 5),
    Benchmark("normalise", "indexing", "normalise/run.py", 1, "normalise/run.py --values 200000", 0.1),
    Benchmark("startup", "indexing", "startup/run.py", 1, "startup/run.py --index {sample}", 0.5),
    Benchmark("index-size", "index-size", "indexing/size.py {index} --raw {lake}", 1),
    Benchmark(
        "overlap-web",
        "columns",
        "overlap/run.py web_tables --seed 41",
        30,
        "overlap/run.py web_tables --columns 30000 --seed 41 --queries 5 --largest 1000",
        1,
    ),
    Benchmark("overlap-open", "columns", "overlap/run.py open_data --seed 41", 30),
    Benchmark("overlap-lake", "columns", "overlap/run.py {index} --seed 42", 30),
    Benchmark(
        "containment",
        "columns",
        "containment/run.py peer --seed 51 --thresholds 0.1 0.3 0.5 0.7 0.9 1.0",
        15,
        "containment/run.py peer --columns 3000 --queries 20 --seed 51 --thresholds 0.5 0.9",
        1,
    ),
    Benchmark("containment-plans", "columns", "containment/run.py plans --seed 52", 10),
    Benchmark("containment-million", "columns", "containment/run.py million --seed 53", 5),
    Benchmark("multi-column", "multi_column", "multi_column/run.py --index {index} --seed 3", 10),
    Benchmark(
        "super-keys",
        "multi_column",
        "multi_column/super_keys.py --index {index} --queries 10 --effort 10000000 --seed 3",
        15,
    ),
    Benchmark("inclusion", "whole-lake", "inclusion/run.py {index} --work {work} --peer-python {desbordante}", 5),
    Benchmark(
        "inclusion-growth", "whole-lake", "inclusion/growth.py", 10, "inclusion/growth.py --tables 1000 2000", 0.5
    ),
    Benchmark("inclusion-published", "whole-lake", "inclusion/published.py {index}", 10),
    Benchmark("foreign-keys", "whole-lake", "judgement/fit_keys.py {truth}/relational --work {work}", 10),
    Benchmark("foreign-keys-filters", "whole-lake", "inclusion/keys.py {truth}/relational --work {work}", 15),
    Benchmark("search-among-strangers", "search", "judgement/fit_search.py {strangers} {truth}/relational", 10),
    Benchmark(
        "search-time",
        "search",
        "ranking/run.py {strangers} --queries 40",
        2,
        "ranking/run.py {sample} --queries 10",
        0.2,
    ),
    Benchmark("judgement", "judgement", "judgement/run.py {truth} {lake} {work} --only pairs measure joins", 60),
    Benchmark("spellings", "transformation", "judgement/fit_pairs.py {truth}", 5),
    Benchmark(
        "transformation",
        "transformation",
        "transformation/run.py --truth {truth} --growth-to 1000000 --fuzzy-to 1000000",
        20,
        "transformation/run.py --rows 300 --growth-to 1000 --fuzzy-to 1000",
        0.5,
    ),
    Benchmark("transformation-published", "transformation", "transformation/published.py {truth}", 20),
    Benchmark(
        "semantic-search", "semantic", "semantic/search.py --values {values} --size 300000 --queries 2 --paper 5", 15
    ),
    Benchmark("semantic-glove", "semantic", "semantic/glove.py {index}", 15),
    Benchmark("semantic-quality", "semantic", "semantic/quality.py {truth}/fuzzy_pairs --embedders ngrams,words", 15),
    Benchmark("through", "through", "through/run.py {truth} {index}", 10),
    Benchmark("union", "union", "union/run.py {index} {pieces} --databases {truth}/relational", 10),
    Benchmark("augmentation", "union", "augmentation/run.py {index} --tasks 16 --seed 1", 15),
    Benchmark("predicates", "join", "preference/accuracy.py --relational {truth}/relational --tpch {tpch}", 15),
    Benchmark(
        "predicate-speed",
        "join",
        "preference/speed.py --tpch {tpch} --size 2",
        5,
        "preference/speed.py --tpch {tiny_tpch}",
        0.5,
    ),
    Benchmark(
        "join-speed",
        "join",
        "preference/execution.py --tpch {tpch}",
        2,
        "preference/execution.py --tpch {tiny_tpch} --repeat 3",
        0.3,
    ),
    Benchmark("serving", "serving", "serving/run.py --index {index} --seconds 30", 4),
    Benchmark("soak", "serving", "soak/run.py", 32),
    Benchmark("faults", "faults", "faults/run.py --rounds 500 --seed 1", 15, "faults/run.py --rounds 40 --seed 1", 1.5),
)
