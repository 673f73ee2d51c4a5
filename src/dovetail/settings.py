"""What can be set when an index is created, as rows of (name, default, help). Frozen in the manifest from then on."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

from dovetail.errors import InputError

MB = 1_000_000


class Setting(NamedTuple):
    name: str
    default: int
    minimum: int
    help: str
    choices: tuple[int, ...] = ()


SETTINGS = (
    Setting("segment_mb", 128, 1, "megabytes of raw tables that one segment holds, about"),
    Setting("slice_mb", 64, 1, "megabytes above which one table is read in slices by several tasks"),
    Setting("memory_mb", 256, 1, "megabytes of distinct values that one task sorts in memory before it uses disk"),
    Setting("super_key_bits", 128, 128, "bits of a row's super key, for keys of several columns", (128, 256, 512)),
    Setting("super_key_xash", 0, 0, "1 for super keys by XASH; 0 for those that rule out more rows", (0, 1)),
)


@dataclass(frozen=True)
class Settings:
    """The settings of one index."""

    segment_mb: int = SETTINGS[0].default
    slice_mb: int = SETTINGS[1].default
    memory_mb: int = SETTINGS[2].default
    super_key_bits: int = SETTINGS[3].default
    super_key_xash: int = SETTINGS[4].default

    def __post_init__(self) -> None:
        for setting in SETTINGS:
            value = getattr(self, setting.name)
            if not isinstance(value, int) or value < setting.minimum:
                raise InputError(
                    f"{setting.name} is {value!r}; it must be a whole number of at least {setting.minimum} "
                    f"({setting.help})."
                )
            if setting.choices and value not in setting.choices:
                raise InputError(
                    f"{setting.name} is {value}; it must be one of {', '.join(map(str, setting.choices))} "
                    f"({setting.help})."
                )

    def to_json(self) -> dict[str, int]:
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Settings:
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise InputError(f"There is no setting {unknown[0]!r}. The settings are: {', '.join(sorted(known))}.")
        return cls(**values)
