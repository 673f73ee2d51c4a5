"""Settings are declared once, checked in one place, and kept as JSON."""

from __future__ import annotations

from dataclasses import fields

import pytest

from dovetail.errors import InputError
from dovetail.settings import SETTINGS, Settings


def test_every_setting_is_declared_once():
    assert [setting.name for setting in SETTINGS] == [field.name for field in fields(Settings)]
    for setting in SETTINGS:
        assert getattr(Settings(), setting.name) == setting.default >= setting.minimum


def test_there_and_back():
    chosen = Settings(segment_mb=7, slice_mb=8, memory_mb=9)
    assert Settings.from_json(chosen.to_json()) == chosen
    assert Settings.from_json({}) == Settings()


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
@pytest.mark.parametrize("value", [0, -1, 1.5, "many", None])
def test_values_out_of_range_are_refused_with_their_meaning(setting, value):
    if value == setting.minimum:
        return
    with pytest.raises(InputError) as refusal:
        Settings(**{setting.name: value})
    assert str(refusal.value).startswith(f"{setting.name} is {value!r}; it must be a whole number of at least ")
    assert setting.help in str(refusal.value)


@pytest.mark.parametrize(("name", "value"), [("super_key_bits", 200), ("super_key_xash", 2)])
def test_values_that_are_none_of_the_choices_are_refused_with_these(name, value):
    with pytest.raises(InputError, match=rf"{name} is {value}; it must be one of (128, 256, 512|0, 1) \("):
        Settings(**{name: value})


def test_unknown_settings_are_refused_with_the_known():
    with pytest.raises(InputError, match=r"There is no setting 'size'\. The settings are: memory_mb, segment_mb,"):
        Settings.from_json({"size": 1})
