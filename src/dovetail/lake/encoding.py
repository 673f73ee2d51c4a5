"""Which encoding a text file has, and decoding that never fails and never loses a byte silently.

UTF-8 is near certain where it decodes. Else the choice is between Western single-byte text, which statistical detectors
mistake on tables (few accents among many numbers), and everything else, which chardet knows.
"""

from __future__ import annotations

import codecs
import re

BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

UNDEFINED_IN_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
C1_RANGE = re.compile(rb"[\x80-\x9f]")
NOT_ASCII = re.compile(r"[^\x00-\x7f]")
HIGH_RUN = re.compile(rb"[\x80-\xff]+")
WESTERN_LETTERS = frozenset("àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßœšžÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝŒŠŽ")
WESTERN_MARKS = frozenset("–—‘’‚“”„†‡•…‰‹›€™¡¢£¥§©ª«®°±²³´µ·¹º»¼½¾¿×÷\xa0")
DETECT_BYTES = 1 << 14
COMMON_LEGACY = frozenset(
    ["cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8-r", "koi8-u", "iso8859-2", "iso8859-5"]
) | {"iso8859-7", "iso8859-9", "shift_jis", "cp932", "euc_jp", "gb2312", "gbk", "gb18030", "big5", "euc_kr", "cp949"}
RARE_NEEDS = 30


def encoding_of(head: bytes, complete: bool) -> str:
    """The codec's name for a text that begins with `head`."""
    for bom, name in BOMS:
        if head.startswith(bom):
            return name
    if b"\x00" in head[:4096] and (wide := utf16_without_bom(head)):
        return wide
    if decodes_as_utf8(head, complete):
        return "utf-8"
    return western(head) or detected(head) or "latin-1"


def decodes_as_utf8(head: bytes, complete: bool) -> bool:
    if head.isascii():
        return True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=complete)
    except UnicodeDecodeError:
        return mostly_utf8(head)
    return True


def mostly_utf8(head: bytes) -> bool:
    """A UTF-8 file with a few bytes of another encoding pasted in stays UTF-8; the strays are mended one by one."""
    text = head.decode("utf-8", errors="replace")
    strays = text.count("\ufffd")
    good = len(NOT_ASCII.findall(text)) - strays
    return good >= 20 * strays


def utf16_without_bom(head: bytes) -> str:
    """Text in the Latin script has a zero in every other byte of UTF-16; which one tells the byte order."""
    pairs = len(head[:4096]) // 2
    even, odd = head[:4096:2].count(0), head[1:4096:2].count(0)
    if odd > 0.4 * pairs and even < 0.05 * pairs:
        return "utf-16-le"
    if even > 0.4 * pairs and odd < 0.05 * pairs:
        return "utf-16-be"
    return ""


def western(head: bytes) -> str:
    """cp1252 or latin-1 where the high bytes read as accented letters inside words, or as typographic marks."""
    runs = HIGH_RUN.findall(head)
    text = b"".join(runs).decode("cp1252", errors="ignore")
    letters = sum(character in WESTERN_LETTERS for character in text)
    marks = sum(character in WESTERN_MARKS for character in text)
    lone = sum(len(run) <= 2 for run in runs) / len(runs)
    if lone < 0.9 or letters + marks < 0.9 * len(text) or accents_in_odd_case(head) > 0.2 * len(runs):
        return ""
    return single_byte_western(head)


def accents_in_odd_case(head: bytes) -> int:
    """Capital accents between small letters: what Cyrillic, Greek or Baltic letters look like when read as cp1252."""
    return len(re.findall(rb"[a-z][\xc0-\xde][a-z]", head))


def single_byte_western(head: bytes) -> str:
    """The two agree but for 0x80 to 0x9F: typographic marks in cp1252, which leaves five of them undefined."""
    if not C1_RANGE.search(head) or UNDEFINED_IN_CP1252.search(head):
        return "latin-1"
    return "cp1252"


def detected(head: bytes) -> str:
    """chardet's opinion on the part of the text that has something to say: the lines with high bytes.

    A rare codec needs evidence: on a handful of accents a detector's guess is worth less than the common answer.
    """
    import chardet  # most files are UTF-8 and need no detector

    lines = [line for line in re.split(rb"[\r\n]+", head) if not line.isascii()]
    found = chardet.detect(b"\n".join(lines)[:DETECT_BYTES])["encoding"]
    try:
        name = codecs.lookup(found).name if found else ""
    except LookupError:
        return ""
    if name in COMMON_LEGACY:
        return name
    if name and keeps_ascii(name) and len(HIGH_RUN.findall(head)) >= RARE_NEEDS:
        return name
    return single_byte_western(head)


def keeps_ascii(encoding: str) -> bool:
    """Whether ASCII bytes mean themselves: a file that was told apart by its high bytes is no EBCDIC and no UTF-7."""
    plain = b'Az09 +,;|"\\\t\n'
    return plain.decode(encoding, errors="ignore") == plain.decode("ascii")


def as_cp1252(error: UnicodeError) -> tuple[str, int]:
    """The error handler `dovetail-cp1252`: bytes that the codec refuses are read as cp1252, or else latin-1."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    stray = error.object[error.start : error.end]
    text = "".join(
        byte.decode("latin-1" if UNDEFINED_IN_CP1252.match(byte) else "cp1252")
        for byte in (stray[i : i + 1] for i in range(len(stray)))
    )
    return text, error.end


codecs.register_error("dovetail-cp1252", as_cp1252)
STRAYS = "dovetail-cp1252"

SINGLE_BYTE = re.compile(r"(ascii|latin-1|iso8859-\d+|cp125\d|cp437|cp85\d|cp866|koi8-[ru]|mac-\w+)$")


def is_utf8(encoding: str) -> bool:
    return encoding in ("utf-8", "utf-8-sig", "ascii")


def is_single_byte(encoding: str) -> bool:
    """Whether each byte is a character and ASCII means itself, so that a byte offset is a character offset."""
    return bool(SINGLE_BYTE.match(encoding))
