"""Tables that contain the tuples of several columns of mine."""

from __future__ import annotations

import time
from dataclasses import replace

from dovetail.errors import InputError
from dovetail.indexes.lsh_ensemble.core import least_overlap
from dovetail.search import engine
from dovetail.search.decided import ranked
from dovetail.search.hit import Hit
from dovetail.search.hits import Hits
from dovetail.search.keys.evidence import key_hit
from dovetail.search.keys.query_key import query_key
from dovetail.search.query import Query


def search_keys(query: Query) -> Hits:
    """The tables that contain most tuples of the columns that the request names, or all that contain enough."""
    request, table, names = query.request, query.table, query.names
    if request.fast:
        raise InputError("`fast` takes one column; `on` names several.")
    key = query_key(table, names)
    floor, exact = request.min_overlap, True
    if request.share is not None:
        floor = max(floor, least_overlap(request.share, key.size))

    def ask(most: int | None) -> list[Hit]:
        nonlocal exact
        k = sum(map(len, query.allowed)) + 1 if most is None else most
        matches, exact = engine.together(query.segments, key, k + query.decided.rejections, floor, query.allowed)
        found = (key_hit(key, match, 0) for match in matches)
        return [hit for hit in found if not query.rejects(hit)][:k]

    offered = query.without_copies(ask, lambda hit: (hit.table, hit.columns))
    found = [replace(hit, copies=copies) for hit, copies in offered.matches]
    hits = query.with_accepted(ranked(sorted(found, key=lambda hit: hit.order)))
    least = "a tuple" if floor == 1 else f"{floor:,} tuples"
    nothing = "" if hits else f"No table{query.where} contains {least} of {', '.join(names)} of {table.name}."
    return Hits(hits, table.name, "equal", "keys", exact, time.perf_counter() - query.begun, nothing, note=offered.note)
