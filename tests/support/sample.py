"""Where the sample lake is."""

from __future__ import annotations

from pathlib import Path

SAMPLE_LAKE = Path(__file__).resolve().parents[2] / "sample-lake"
