"""Texts as vectors: embedders by name. The weights of all of them come in packages; nothing is fetched when used."""

from __future__ import annotations

from dovetail.embedders.protocol import Embedder
from dovetail.embedders.registry import DEFAULT, EMBEDDERS, embedder_of

__all__ = ["DEFAULT", "EMBEDDERS", "Embedder", "embedder_of"]
