"""What a table more or less costs the vectors, beside building them all: its share, for segments stay as they are.

    python benchmarks/semantic/changes.py LAKE [--changes 20]

The whole of LAKE is indexed but for some tables, which are then added one by one, and removed one by one. The pipeline
runs inside this process, without Spark, so that the time in the vectors' part of it can be told.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from dovetail._storage.segment import SegmentWriter
from dovetail.indexes.pexeso.build import PexesoBuilder
from dovetail.pipeline.run import Request, index_lake
from support.pipeline import without_spark


class Watch:
    """CPU seconds in the vectors' builder, and texts that it made vectors of, since last asked."""

    def __init__(self) -> None:
        self.seconds, self.texts = 0.0, 0
        finish, watch = PexesoBuilder.finish, self

        def timed(builder: PexesoBuilder, writer: SegmentWriter, widths: Sequence[int]) -> dict[str, int]:
            begun = time.process_time()
            counts = finish(builder, writer, widths)
            watch.seconds += time.process_time() - begun
            watch.texts += writer.pack("pexeso").packed("text_tokens").length
            return counts

        PexesoBuilder.finish = timed  # type: ignore[method-assign]

    def measure(self, lake: Path, index: Path) -> tuple[float, int, float]:
        """Seconds of the part, texts, and seconds of the whole update."""
        self.seconds, self.texts = 0.0, 0
        begun = time.process_time()
        index_lake(Request((str(lake),), index, allow_drop=True))
        return self.seconds, self.texts, time.process_time() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lake", type=Path)
    parser.add_argument("--changes", type=int, default=20)
    options = parser.parse_args()
    files = sorted(path for path in options.lake.rglob("*") if path.is_file())
    held = random.Random(1).sample(files, options.changes)
    with tempfile.TemporaryDirectory() as folder, without_spark():
        lake = Path(folder, "lake")
        shutil.copytree(options.lake, lake)
        kept = [lake / path.relative_to(options.lake) for path in held]
        for path in kept:
            path.unlink()
        run(lake, Path(folder), dict(zip(kept, held, strict=True)))


def run(lake: Path, folder: Path, tables: dict[Path, Path]) -> None:
    watch = Watch()
    watch.measure(lake, folder / "warm.idx")  # compiles
    whole = watch.measure(lake, folder / "lake.idx")
    told("all at first", [whole], whole)
    added, removed = [], []
    for place, original in tables.items():
        shutil.copy(original, place)
        added.append(watch.measure(lake, folder / "lake.idx"))
    for place in tables:
        place.unlink()
        removed.append(watch.measure(lake, folder / "lake.idx"))
    told("one table added, mean", added, whole)
    told("one table removed, mean", removed, whole)
    slope, fixed = np.polyfit([texts for _, texts, _ in added], [seconds for seconds, _, _ in added], 1)
    print(f"added: {1e3 * fixed:.1f} ms + {1e6 * slope:.1f} µs a text; all at first {1e6 * whole[0] / whole[1]:.1f} µs")


def told(name: str, updates: list[tuple[float, int, float]], whole: tuple[float, int, float]) -> None:
    seconds, texts, update = np.mean(np.array(updates, float), axis=0)
    shares: Any = f"{texts / whole[1]:.3%} of the texts, {seconds / whole[0]:.3%} of the time"
    print(f"{name:24} {texts:10,.0f} texts  {1e3 * seconds:9.2f} ms ({shares})  update {update:.2f} s", flush=True)


if __name__ == "__main__":
    main()
