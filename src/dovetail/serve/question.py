"""A question about tables, in a form that can be sent to another process and recognised when it is asked again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

VERBS = ("search", "search_stages", "union", "join", "sql", "predicates", "map")


@dataclass(frozen=True)
class Question:
    """A verb of `Service` and what it is asked with, all of it plain values."""

    verb: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert self.verb in VERBS, self.verb

    @property
    def written(self) -> str:
        """The same for the same question, whoever asks it."""
        return json.dumps([self.verb, dict(self.options)], sort_keys=True)
