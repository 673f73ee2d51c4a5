"""Settings are declared once and checked in one place; those that an index freezes may be left open."""

from __future__ import annotations

from dataclasses import fields

import pytest

from dovetail.errors import InputError
from dovetail.settings import SETTINGS, Settings


def test_every_setting_is_declared_once():
    assert [setting.name for setting in SETTINGS] == [field.name for field in fields(Settings)]
    for setting in SETTINGS:
        value = Settings().frozen(setting.name) if setting.frozen else getattr(Settings(), setting.name)
        assert value == setting.default >= setting.minimum


def test_settings_by_name():
    assert Settings.of({"segment_mb": 7, "super_key_bits": 256}) == Settings(segment_mb=7, super_key_bits=256)
    assert Settings.of({}) == Settings()
    assert Settings(super_key_bits=256).frozen("super_key_bits") == 256


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
@pytest.mark.parametrize("value", [0, -1, 1.5, "many", None])
def test_values_out_of_range_are_refused_with_their_meaning(setting, value):
    if value == setting.minimum or (value is None and setting.frozen):
        return
    with pytest.raises(InputError) as refusal:
        Settings(**{setting.name: value})
    assert str(refusal.value).startswith(f"{setting.name} is {value!r}; it must be a whole number of at least ")
    assert setting.help in str(refusal.value)


@pytest.mark.parametrize(("name", "value"), [("super_key_bits", 200), ("super_key_xash", 2)])
def test_values_that_are_none_of_the_choices_are_refused_with_these(name, value):
    with pytest.raises(InputError, match=rf"{name} is {value}; it must be one of (0, 64, 128, 256, 512|0, 1) \("):
        Settings(**{name: value})


def test_unknown_settings_are_refused_with_the_known():
    with pytest.raises(InputError, match=r"no setting 'size'\. The settings are: memory_mb, merge_factor, segment_mb,"):
        Settings.of({"size": 1})
