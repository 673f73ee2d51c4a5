"""What a user knows better than the sniffer, and says on the command line."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass

from dovetail.errors import InputError

WORDS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|", "none": ""}
YES_NO = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True)
class DialectOverride:
    """Every field is optional: None leaves the question to the sniffer, an empty string means `there is none`."""

    delimiter: str | None = None
    quote: str | None = None
    escape: str | None = None
    comment: str | None = None
    encoding: str | None = None
    header: bool | None = None
    skip_lines: int | None = None


def parse_override(text: str) -> DialectOverride:
    """`delimiter=;,header=no,encoding=cp1252` as an override. A comma as the value is written `comma`."""
    values: dict[str, str | bool | int] = {}
    for item in filter(None, (piece.strip() for piece in text.split(","))):
        name, sign, value = item.partition("=")
        if not sign or name not in PARSERS:
            raise InputError(
                f"dialect setting {item!r} is unknown; allowed are {', '.join(PARSERS)}, each as name=value"
            )
        values[name] = PARSERS[name](name, value)
    return DialectOverride(**values)  # type: ignore[arg-type]


def one_character(name: str, value: str) -> str:
    found = WORDS.get(value.lower(), value)
    if len(found) > 1 or not found.isascii() or found in ("\n", "\r") or (name == "delimiter" and not found):
        raise InputError(f"{name}={value} is not one ASCII character; write for instance {name}=; or {name}=tab")
    return found


def codec_name(name: str, value: str) -> str:
    try:
        return codecs.lookup(value).name
    except LookupError:
        raise InputError(f"{name}={value} is not a known encoding; write for instance {name}=cp1252") from None


def yes_or_no(name: str, value: str) -> bool:
    if value.lower() not in YES_NO:
        raise InputError(f"{name}={value} is not a choice; write {name}=yes or {name}=no")
    return YES_NO[value.lower()]


def line_count(name: str, value: str) -> int:
    if not value.isdecimal():
        raise InputError(f"{name}={value} is not a number of lines; write for instance {name}=2")
    return int(value)


PARSERS: dict[str, Callable[[str, str], str | bool | int]] = {
    "delimiter": one_character,
    "quote": one_character,
    "escape": one_character,
    "comment": one_character,
    "encoding": codec_name,
    "header": yes_or_no,
    "skip_lines": line_count,
}
