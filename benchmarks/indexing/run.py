"""Index throughput beside DuckDB, memory, size of the index, and the cost of indexing an unchanged lake again.

    python benchmarks/indexing/run.py --lake DIR [--copies N] [--rounds 3] [--report FILE]

In every round, `dovetail index` builds an index anew, then the peer (peer.py) reads the same files, once with its own
types and once with all columns as text. All files are read once before, so that the disk plays no part.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from lakes import copies, lake_bytes, warm
from memory import Usage
from reporting import emit, machine, markdown_table
from sides import Build, Peer, add_common_options, index, read_by_peer, settings_options

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record


@dataclass
class Rounds:
    """Everything that was measured."""

    bytes: int
    builds: list[Build] = field(default_factory=list)
    typed: list[Peer] = field(default_factory=list)
    textual: list[Peer] = field(default_factory=list)
    again: Build | None = None


def measure(command: str, lake: Path, work: Path, rounds: int, options: tuple[str, ...]) -> Rounds:
    warm(lake)
    found = Rounds(lake_bytes(lake))
    to = work / "index"
    for _ in range(rounds):
        if to.exists():
            shutil.rmtree(to)
        found.builds.append(index(command, lake, to, options))
        found.typed.append(read_by_peer(lake, all_varchar=False))
        found.textual.append(read_by_peer(lake, all_varchar=True))
    found.again = index(command, lake, to)
    return found


def report(title: str, found: Rounds) -> str:
    last = found.builds[-1].report
    sections = (
        f"## Indexing {title}",
        f"{last['tables']:,} tables, {last['columns']:,} columns, {last['rows']:,} rows, {found.bytes / 1e6:,.1f} MB; "
        f"{len(last['skipped']):,} files skipped. {machine()}",
        speeds(found),
        f"Medians of {len(found.builds)} rounds; CPU seconds are those of the whole command, about. {ratios(found)}",
        bars(found),
    )
    return "\n\n".join(sections)


def speeds(found: Rounds) -> str:
    """One line for each side: seconds, MB/s of the whole lake, peak memory, what could not be read."""
    skipped = len(found.builds[-1].report["skipped"])
    used = [build.usage for build in found.builds]
    rows = [
        _line("dovetail, without Spark's start", [b.own_seconds for b in found.builds], used, found.bytes, skipped),
        _line("dovetail, whole command", [b.seconds for b in found.builds], used, found.bytes, skipped),
    ]
    for name, peers in (("DuckDB", found.typed), ("DuckDB, all as text", found.textual)):
        seconds, used = [peer.seconds for peer in peers], [peer.usage for peer in peers]
        rows.append(_line(name, seconds, used, found.bytes, len(peers[-1].outcome["failed"])))
    return markdown_table(("", "seconds", "from – to", "MB/s", "CPU seconds", "peak PSS, MB", "not read"), rows)


def _line(name: str, seconds: list[float], used: list[Usage], size: int, failed: int) -> tuple[str, ...]:
    middle = median(seconds)
    return (
        name, f"{middle:.1f}", f"{min(seconds):.1f} – {max(seconds):.1f}", f"{size / 1e6 / middle:.1f}",
        f"{median(usage.cpu_seconds for usage in used):.1f}", f"{max(usage.peak_bytes for usage in used) / 1e6:,.0f}",
        f"{failed:,}",
    )  # fmt: skip


def ratios(found: Rounds) -> str:
    start = median(build.report["spark_start_seconds"] for build in found.builds)
    typed = median(peer.seconds for peer in found.typed)
    textual = median(peer.seconds for peer in found.textual)
    own = median(build.own_seconds for build in found.builds)
    whole = median(build.seconds for build in found.builds)
    return (
        f"Spark took {start:.1f} s to start. Indexing costs **{own / typed:.2f}** times DuckDB's bare read "
        f"({whole / typed:.2f} with Spark's start); with all columns as text, {own / textual:.2f} "
        f"({whole / textual:.2f})."
    )


def keep(found: Rounds) -> None:
    """The figures of docs/benchmarks.md."""
    assert found.again is not None
    record(
        tables=found.builds[-1].report["tables"],
        gigabytes=found.bytes / 1e9,
        ratio=median(build.own_seconds for build in found.builds) / median(peer.seconds for peer in found.typed),
        peak_gigabytes=max(build.usage.peak_bytes for build in found.builds) / 1e9,
        again_percent=100 * found.again.seconds / median(build.seconds for build in found.builds),
    )


def bars(found: Rounds) -> str:
    """Memory by process, index size, and the second run over the same lake."""
    highest = max(found.builds, key=lambda build: build.usage.peak_bytes)
    parts = ", ".join(f"{name} {size / 1e6:,.0f}" for name, size in sorted(highest.usage.peak_parts.items()))
    first = median(build.seconds for build in found.builds)
    again = found.again
    assert again is not None
    if again.report["unchanged"] != highest.report["added"]:
        raise SystemExit("The second run found changes in a lake that did not change.")
    rows = [
        ("peak memory, MB (PSS of all processes)", f"{highest.usage.peak_bytes / 1e6:,.0f} ({parts})"),
        ("index bytes for a raw byte", f"{found.builds[-1].index_bytes / found.bytes:.2f}"),
        ("distinct values in the index", f"{highest.report['values']:,}"),
        ("indexing again, nothing changed", f"{again.seconds:.2f} s, {again.seconds / first:.1%} of the first build"),
    ]
    return markdown_table(("", "measured"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_common_options(parser)
    parser.add_argument("--copies", type=int, default=1, metavar="N", help="index N copies of the lake (1)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="rounds of ours and the peer (3)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.work) as folder:
        work = Path(folder)
        lake = copies(options.lake, options.copies, work / "lake") if options.copies > 1 else options.lake
        title = options.lake.name + (f" × {options.copies}" if options.copies > 1 else "")
        found = measure(options.dovetail, lake, work, options.rounds, settings_options(options.set))
    emit(report(title, found), options.report)
    keep(found)


if __name__ == "__main__":
    main()
