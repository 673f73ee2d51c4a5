"""What can be set when a lake is indexed, as rows of (name, default, help).

Most settings belong to one run and are not remembered. Those that are frozen must be the same for all segments, so the
index keeps them from its first tables on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from dovetail.errors import InputError

MB = 1_000_000


class Setting(NamedTuple):
    name: str
    default: int
    minimum: int
    help: str
    choices: tuple[int, ...] = ()
    frozen: bool = False


SETTINGS = (
    Setting("segment_mb", 128, 1, "megabytes of raw tables that one segment holds, about"),
    Setting("slice_mb", 64, 1, "megabytes above which one table is read in slices by several tasks"),
    Setting("memory_mb", 256, 1, "megabytes of distinct values that one task sorts in memory before it uses disk"),
    Setting("merge_factor", 10, 2, "small segments of about the same size that are merged into one"),
    Setting(
        "super_key_bits",
        64,
        0,
        "bits of a row's super key, for keys of several columns; 0 for none",
        (0, 64, 128, 256, 512),
        True,
    ),
    Setting("super_key_xash", 0, 0, "1 for super keys by XASH; 0 for those that rule out more rows", (0, 1), True),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}


def check_setting(setting: Setting, value: Any) -> None:
    """Refuse a value that the setting does not allow."""
    if not isinstance(value, int) or value < setting.minimum:
        raise InputError(
            f"{setting.name} is {value!r}; it must be a whole number of at least {setting.minimum} ({setting.help})."
        )
    if setting.choices and value not in setting.choices:
        raise InputError(
            f"{setting.name} is {value}; it must be one of {', '.join(map(str, setting.choices))} ({setting.help})."
        )


@dataclass(frozen=True)
class Settings:
    """The settings of one run. None for a frozen one: as the index has it, or the default in a new index."""

    segment_mb: int = _BY_NAME["segment_mb"].default
    slice_mb: int = _BY_NAME["slice_mb"].default
    memory_mb: int = _BY_NAME["memory_mb"].default
    merge_factor: int = _BY_NAME["merge_factor"].default
    super_key_bits: int | None = None
    super_key_xash: int | None = None

    def __post_init__(self) -> None:
        for setting in SETTINGS:
            value = getattr(self, setting.name)
            if not (value is None and setting.frozen):
                check_setting(setting, value)

    def frozen(self, name: str) -> int:
        """What a new index freezes."""
        value: int | None = getattr(self, name)
        default: int = _BY_NAME[name].default
        return default if value is None else value

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Settings:
        """Settings by name; the others have their defaults."""
        unknown = sorted(set(values) - set(_BY_NAME))
        if unknown:
            raise InputError(f"There is no setting {unknown[0]!r}. The settings are: {', '.join(sorted(_BY_NAME))}.")
        return cls(**values)


DEFAULTS = Settings()
