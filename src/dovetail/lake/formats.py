"""Which files are tables: by name, which decides what is tried, and by content, which has the last word."""

from __future__ import annotations

import re

from dovetail.errors import UnreadableTable

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
    ".orc": "orc",
    ".avro": "avro",
}

COMPRESSION_BY_SUFFIX = {".gz": "gz", ".zst": "zst"}


def format_of(name: str) -> tuple[str, str] | None:
    """(format, compression) of a table file by its name, in any case; None where the name is not a table's.

    The binary formats compress inside, so only the text formats may carry an outer `.gz` or `.zst`.
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


MAGIC = (
    (b"PK\x03\x04", "a ZIP archive or Office file"),
    (b"%PDF", "a PDF"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"PAR1", "a Parquet file under another name"),
    (b"ARROW1", "an Arrow file under another name"),
    (b"Obj\x01", "an Avro file under another name"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"BZh", "a bzip2 stream"),
    (b"\xfd7zXZ", "an xz stream"),
    (b"{\\rtf", "rich text"),
)
TEXT_DOCUMENTS = (
    (re.compile(rb"(<!--.*?-->\s*)?<(!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL), "HTML"),
    (re.compile(rb"<\?xml|<svg\b|<rdf:|<([a-z]\w*)[^>]*>.*</\1>\s*$", re.IGNORECASE | re.DOTALL), "XML"),
    (re.compile(rb"version https://git-lfs\.github\.com/spec/"), "a Git LFS pointer"),
    (re.compile(rb'(\{\s*("[^"]*"\s*:|\}\s*$)|\[\s*[\{\[])'), "JSON"),
)
CONTROL = bytes(set(range(32)) - {0, 9, 10, 12, 13, 1, 26, 27, 28, 29, 30, 31})
WORDS_IN_PROSE, WORDS_IN_NOTES = 6, 4
PROSE_SUFFIXES = (".txt", ".dat", "")


def refuse_empty(head: bytes) -> None:
    if not head:
        raise UnreadableTable("empty file")
    if not head.strip(b"\xef\xbb\xbf\xff\xfe \t\r\n\x0b\x0c\x00"):
        raise UnreadableTable("only white space")


def refuse_other_content(head: bytes, wide: bool) -> None:
    """Raises for documents, archives and binary data. `wide`: a 16- or 32-bit encoding, where zero bytes are text."""
    start = head[:2048].lstrip(b"\xef\xbb\xbf \t\r\n")
    for magic, name in MAGIC:
        if start.startswith(magic):
            raise UnreadableTable(f"not a table: {name}")
    for pattern, name in TEXT_DOCUMENTS:
        if pattern.match(start):
            raise UnreadableTable(f"not a table: {name}")
    sample = head[: 1 << 16]
    odd = len(sample) - len(sample.translate(None, CONTROL))
    zeros = 0 if wide else sample.count(0)
    if odd > 0.01 * len(sample) or zeros > 0.05 * len(sample):
        raise UnreadableTable("not a table: binary data")


def refuse_prose(text: str, suffix: str) -> None:
    """Raises for running text: called where no delimiter makes a table, so that one column is what is left.

    A `.csv` of one column of sentences with a short name above is a table; a `.txt` of sentences is not.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    words = sum(len(line.split()) for line in lines) / len(lines)
    titled = len(lines) > 1 and len(lines[0].split()) <= 3 and suffix not in PROSE_SUFFIXES
    paragraphs = re.search(r"\n[^\S\n]*\n", text.strip()) is not None
    if words >= (WORDS_IN_NOTES if suffix in PROSE_SUFFIXES else WORDS_IN_PROSE) and (not titled or paragraphs):
        raise UnreadableTable("not a table: prose")
