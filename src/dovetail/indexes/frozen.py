"""The settings that an index keeps from its first tables on, because all of its segments must agree on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dovetail.errors import InputError
from dovetail.indexes.mate.index import MATE
from dovetail.indexes.pexeso.index import PEXESO
from dovetail.settings import SETTINGS, Settings


def frozen_settings(frozen: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What the manifest has frozen, under the names by which it was set; empty before the first tables."""
    if not frozen:
        return {}
    return {
        "super_key_bits": frozen[MATE.name]["bits"],
        "super_key_xash": int(frozen[MATE.name]["family"] == "xash"),
        "embedder": frozen[PEXESO.name]["embedder"],
    }


def refuse_other_settings(frozen: Mapping[str, Mapping[str, Any]], settings: Settings) -> None:
    """Raises where `settings` asks for something else than what is frozen."""
    kept = frozen_settings(frozen)
    for name in (setting.name for setting in SETTINGS if setting.frozen and kept):
        wanted = getattr(settings, name)
        if wanted not in (None, kept[name]):
            raise InputError(
                f"{name} is {kept[name]} in this index and cannot be changed to {wanted}; make a new index for that."
            )
