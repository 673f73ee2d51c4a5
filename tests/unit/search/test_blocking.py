"""Search by vectors rules columns out by block and verify where that costs less than it saves."""

from __future__ import annotations

import numpy as np

import dovetail
from dovetail.embedders import EMBEDDERS
from dovetail.indexes.pexeso import query
from support.letters import Letters
from support.pipeline import index, without_spark


def test_dense_vectors_are_blocked_where_that_pays(tmp_path, monkeypatch):
    monkeypatch.setitem(EMBEDDERS, "letters", Letters)
    monkeypatch.setattr(query, "_VALUES_A_GRID", 30)
    monkeypatch.setattr(query, "_LEFT", 0.1)  # of so few texts, a text itself is a large share
    random = np.random.default_rng(1)
    (tmp_path / "lake").mkdir()
    names = ["".join(random.choice(list("abcdefgh"), 12)) for _ in range(60)]
    for number in range(4):
        some = "\n".join(names[number * 15 : (number + 1) * 15])
        (tmp_path / "lake" / f"t{number}.csv").write_text(f"name\n{some}\n", encoding="utf-8")
    with without_spark():
        index(tmp_path / "lake", tmp_path / "idx", embedder="letters")
    lake = dovetail.open(tmp_path / "idx")
    asked = {"by": "semantic", "min_similarity": 0.999, "threshold": 0.6}
    texts = lake.segments[0].texts
    answers = []
    for _ in range(4):
        answers.append([hit.table for hit in lake.search({"name": names[15:30]}, **asked)])
        answers.append(bool(texts._grids))
    assert answers == [["t1.csv"], False, ["t1.csv"], True, ["t1.csv"], True, ["t1.csv"], True]
    assert texts._pays(texts.arrays.vectors[:5], 0.01)
    assert not texts._pays(texts.arrays.vectors[:5], 1.9)
