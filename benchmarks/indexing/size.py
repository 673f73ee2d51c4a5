"""How many bytes each part and each array of an index takes, and the same of another index of the same lake beside it.

    python benchmarks/indexing/size.py INDEX [--against INDEX] [--raw DIR]

Reads directories of packs alone, of any format that has them. `--raw` is the lake, for bytes a raw byte.
"""

from __future__ import annotations

import argparse
import json
import struct
import sys
from collections import Counter
from pathlib import Path

import dovetail

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measured import record

_PLACE = struct.Struct("<QQQ")
_TAIL = 16  # bytes behind the place of the directory: checksum and magic
_ITEM = {"uint8": 1, "uint16": 2, "uint32": 4, "float32": 4}  # others have eight


def arrays_of(index: Path) -> Counter[tuple[str, str]]:
    """The bytes of each array, by part and name, over all segments."""
    found: Counter[tuple[str, str]] = Counter()
    for file in index.glob("segments/*/*.dvt"):
        with file.open("rb") as pack:
            pack.seek(-_PLACE.size - _TAIL, 2)
            offset, length, _ = _PLACE.unpack(pack.read(_PLACE.size))
            pack.seek(offset)
            directory = json.loads(pack.read(length))
        for name, place in directory["arrays"].items():
            found[directory["name"], name] += place["length"] * _ITEM.get(place["dtype"], 8)
    return found


def raw_bytes(lake: Path) -> int:
    return sum(file.stat().st_size for file in lake.rglob("*") if file.is_file())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--against", type=Path, metavar="INDEX")
    parser.add_argument("--raw", type=Path, metavar="DIR")
    given = parser.parse_args()
    indexes = [arrays_of(index) for index in (given.against, given.index) if index]
    totals = [sum(index.values()) for index in indexes]
    for part in sorted({part for index in indexes for part, _ in index}):
        sizes = [sum(size for (of, _), size in index.items() if of == part) for index in indexes]
        print(f"| **{part}** | {_cells(sizes)} |")
        for name in sorted({name for index in indexes for of, name in index if of == part}):
            print(f"| {name} | {_cells([index[part, name] for index in indexes])} |")
    print(f"| all | {_cells(totals)} |")
    if given.raw:
        ratios = [total / raw_bytes(given.raw) for total in totals]
        print(f"bytes a raw byte: {', '.join(f'{ratio:.2f}' for ratio in ratios)}")
        record(ratio=ratios[-1], tables=len(dovetail.open(given.index).tables()))


def _cells(sizes: list[int]) -> str:
    return " | ".join(f"{size / 1e6:.2f} MB" for size in sizes)


if __name__ == "__main__":
    main()
