"""Which files are tables, by name. The content has the last word: this only decides what is tried."""

from __future__ import annotations

TEXT_FORMATS = ("delimited", "jsonl")

FORMAT_BY_SUFFIX = {
    ".csv": "delimited",
    ".tsv": "delimited",
    ".tab": "delimited",
    ".psv": "delimited",
    ".txt": "delimited",
    ".dat": "delimited",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}

COMPRESSION_BY_SUFFIX = {".gz": "gz", ".zst": "zst"}


def format_of(name: str) -> tuple[str, str] | None:
    """(format, compression) of a table file by its name, in any case; None where the name is not a table's.

    Parquet and Arrow compress inside, so only the text formats may carry an outer `.gz` or `.zst`.
    """
    stem, suffix = split_suffix(name)
    compression = COMPRESSION_BY_SUFFIX.get(suffix, "")
    if compression:
        _, suffix = split_suffix(stem)
    found = FORMAT_BY_SUFFIX.get(suffix)
    if found is None or (compression and found not in TEXT_FORMATS):
        return None
    return found, compression


def split_suffix(name: str) -> tuple[str, str]:
    """The name without its last suffix, and that suffix in lower case: `A.CSV` gives (`A`, `.csv`)."""
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    stem, dot, suffix = base.rpartition(".")
    return (stem, f".{suffix.lower()}") if dot and stem else (base, "")
