"""Models as JSON files, beside the modules that use them."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from dovetail._model import Model

ROOMS = {"pair_rank": "similar", "pair": "similar"}
"""Of models that are not in `evidence`."""


def write_model(model: Model, path: Path | None, program: str, data: Sequence[str], cases: int) -> None:
    """To a path, or to the package."""
    said = {
        "made_by": {
            "program": f"benchmarks/judgement/{program}",
            "date": datetime.date.today().isoformat(),
            "data": list(data),
            "cases": cases,
        },
        "intercept": round(model.intercept, 4),
    }
    for part in ("weights", "typical"):
        values = getattr(model, part).tolist()
        said[part] = {name: round(value, 4) for name, value in zip(model.features, values, strict=True) if value}
    room = resources.files(f"dovetail.{ROOMS.get(model.name, 'evidence')}")
    (path or Path(str(room)) / f"{model.name}.json").write_text(json.dumps(said, indent=1) + "\n", encoding="utf-8")
