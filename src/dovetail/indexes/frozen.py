"""What an index keeps from its first tables on, because all of its segments must agree on it: settings, and parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dovetail.errors import InputError
from dovetail.indexes.lists.index import LISTS
from dovetail.indexes.mate.index import MATE
from dovetail.indexes.pexeso.index import PEXESO
from dovetail.indexes.pieces.index import PIECES
from dovetail.normalise.keyed import KEY_FILE_VARIABLE, KEY_VARIABLE, key_fingerprint
from dovetail.settings import SETTINGS, Settings

OPTIONAL = {index.name: index.question for index in (LISTS, MATE, PEXESO, PIECES)}
"""The parts that an index can do without, and the question that each answers."""
_WITHOUT = "without"
_HASHED = "hashed"


def frozen_settings(frozen: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What the manifest has frozen, under the names by which it was set; empty before the first tables."""
    if not frozen:
        return {}
    return {
        "super_key_bits": frozen[MATE.name]["bits"],
        "super_key_xash": int(frozen[MATE.name]["family"] == "xash"),
        "embedder": frozen[PEXESO.name]["embedder"],
    }


def left_out(frozen: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """The parts that the index does without."""
    return tuple(frozen.get(_WITHOUT, {}).get("parts", ()))


def leave_out(frozen: Mapping[str, Mapping[str, Any]], parts: Iterable[str]) -> dict[str, Any]:
    """The same with other parts left out."""
    return {**frozen, _WITHOUT: {"parts": sorted(set(parts))}}


def freeze_key(frozen: Mapping[str, Mapping[str, Any]], key: bytes) -> dict[str, Any]:
    """The same with the fingerprint of the key of hashed columns, of which an index has one."""
    return {**frozen, _HASHED: {"key": key_fingerprint(key)}}


def refuse_other_key(frozen: Mapping[str, Mapping[str, Any]], key: bytes | None) -> None:
    """Raises where a key is given and is not the one that the index was made with."""
    if key is not None and _HASHED in frozen and frozen[_HASHED]["key"] != key_fingerprint(key):
        raise InputError(
            f"The key in {KEY_VARIABLE} or {KEY_FILE_VARIABLE} is not the one that the hashed columns of this index "
            "were made with."
        )


def check_parts(parts: Iterable[str]) -> tuple[str, ...]:
    """The parts, if an index can do without each of them."""
    wanted = tuple(parts)
    for part in wanted:
        if part not in OPTIONAL:
            raise InputError(f"{part} is not a part that can be left out; those are {', '.join(OPTIONAL)}.")
    return wanted


def refuse_other_settings(frozen: Mapping[str, Mapping[str, Any]], settings: Settings) -> None:
    """Raises where `settings` asks for something else than what is frozen."""
    kept = frozen_settings(frozen)
    for name in (setting.name for setting in SETTINGS if setting.frozen and kept):
        wanted = getattr(settings, name)
        if wanted not in (None, kept[name]):
            raise InputError(
                f"{name} is {kept[name]} in this index and cannot be changed to {wanted}; make a new index for that."
            )
