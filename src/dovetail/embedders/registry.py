"""The embedders that come with Dovetail. Those that need a model are imported when first used."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from dovetail.embedders.ngrams import NGrams
from dovetail.embedders.protocol import Embedder
from dovetail.embedders.sentences import Sentences
from dovetail.embedders.words import Words
from dovetail.errors import UnknownName, unknown

EMBEDDERS: dict[str, Callable[[], Embedder]] = {"ngrams": NGrams, "words": Words, "sentences": Sentences}
DEFAULT = "ngrams"


@cache
def embedder_of(name: str) -> Embedder:
    if name not in EMBEDDERS:
        raise UnknownName(unknown("There is no embedder", name, sorted(EMBEDDERS)))
    return EMBEDDERS[name]()
