"""Programs as JSON: read and applied, or refused with a sentence."""

from __future__ import annotations

import json

from dovetail.errors import InputError
from dovetail.serve.rest import program_document
from dovetail.transform.transformation import Transformation
from targets.documents import changed

_COLUMNS = {"a": ["one two", "3.5", None, "2004-03-04", ""], "b": ["x-y", "Z", "1,234", "é", "q"]}
_EXTRACT = {"column": "a", "splits": [{"separator": " ", "first": 0, "last": -2}], "start": 0, "stop": 3}
_FORMS = ({"kind": "initials"}, {"kind": "date part", "part": "year"}, {"kind": "number", "factor": 2.5, "width": 5})


def _document(*steps: object) -> bytes:
    body = {"version": 2, "programs": [list(steps)], "reversed": False, "target": "b", "key": None}
    return json.dumps(body).encode()


SEEDS = [_document({**_EXTRACT, "case": "upper"}, {"constant": "-"})]
SEEDS += [_document({**_EXTRACT, "splits": [], "case": "as is", "form": form}) for form in _FORMS]
_DOCUMENTS = [json.loads(each) for each in SEEDS]
SEEDS += [bytes([number, 5, 4]) for number in range(len(_DOCUMENTS))]


def check(data: bytes) -> None:
    if data[:1] and data[0] < len(_DOCUMENTS):
        data = changed(_DOCUMENTS[data[0]], data[1:])
    try:
        document = program_document(data.decode("utf-8", errors="replace"))
        read = Transformation.from_json(document)
        made = read.apply({name: _COLUMNS.get(name, _COLUMNS["a"]) for name in read.columns})
    except InputError as error:
        assert str(error)
        return
    assert len(made) == len(_COLUMNS["a"])
    assert sum(len(value or "") for value in made) < 10_000 + 100 * len(data)
    assert Transformation.from_json(read.to_json()) == read
