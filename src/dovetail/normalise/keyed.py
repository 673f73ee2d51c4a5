"""Values that are kept only as keyed hashes: equal values have equal hashes, and nobody without the key can guess them.

A hash is BLAKE2b with a key, of 120 bits, written as `hash:` and 24 letters and digits. Each value is normalised by
itself first, since a column is hashed before all of its values have been seen: numbers and dates that can be read in
one way only are written in one way, everything else is folded text.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.errors import InputError
from dovetail.normalise._arrow import read
from dovetail.normalise.classes import NUMBERS, ValueClass
from dovetail.normalise.column_type import ColumnType, classify
from dovetail.normalise.dates import format_of
from dovetail.normalise.folding import fold
from dovetail.normalise.hashing import as_strings
from dovetail.normalise.tokenise import tokens

KEY_VARIABLE = "DOVETAIL_HASH_KEY"
"""The environment variable that has the key of hashed columns."""
KEY_FILE_VARIABLE = "DOVETAIL_HASH_KEY_FILE"
"""The environment variable that names a file with the key."""
HASHED = ColumnType("hashed")
"""The type of a column whose values are hashes."""

_PREFIX = b"hash:"
_DIGEST_BYTES = 15  # 24 characters of base 32 without padding; of 2^40 values, two meet with a probability of 2^-41
_ALPHABET = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz234567", np.uint8)
_LEAST_KEY = 16  # bytes: the fingerprint in the index lets a short key be guessed
_OF_VALUES, _OF_KEY = b"dovetail-value", b"dovetail-key"

_given: bytes | None = None


def use_key(key: bytes | None) -> None:
    """Take this key instead of the environment's: for workers, which have an environment of their own."""
    global _given
    _given = key


def hash_key() -> bytes | None:
    """The key that the environment gives, as BLAKE2b takes it; None where there is none."""
    if _given is not None:
        return _given
    written, file = os.environ.get(KEY_VARIABLE), os.environ.get(KEY_FILE_VARIABLE)
    if file and not written:
        try:
            key = Path(file).read_bytes().strip()
        except OSError as error:
            raise InputError(f"The file of {KEY_FILE_VARIABLE} cannot be read: {error.strerror}.") from error
    else:
        key = (written or "").encode()
    if not key:
        return None
    if len(key) < _LEAST_KEY:
        raise InputError(f"The key for hashed columns has {len(key)} bytes; it must have at least {_LEAST_KEY}.")
    return hashlib.blake2b(key).digest()


def required_key() -> bytes:
    """The key; raises where there is none."""
    key = hash_key()
    if key is None:
        raise InputError(f"Columns that are hashed need a key: set {KEY_VARIABLE} or {KEY_FILE_VARIABLE}.")
    return key


def key_fingerprint(key: bytes) -> str:
    """What an index remembers of its key."""
    return hashlib.blake2b(key=key, digest_size=8, person=_OF_KEY).hexdigest()


def hashed_values(raw: pa.Array, key: bytes) -> pa.LargeStringArray:
    """The hash of each raw value; null where it is null in a column of any type."""
    found = _each_normalised(raw.cast(pa.large_string()))
    if not len(found):
        return found
    digests = b"".join(
        bytes(_DIGEST_BYTES)
        if value is None
        else hashlib.blake2b(value.encode(), key=key, digest_size=_DIGEST_BYTES, person=_OF_VALUES).digest()
        for value in found.to_pylist()
    )
    bits = np.unpackbits(np.frombuffer(digests, np.uint8)).reshape(len(found), -1, 5)
    letters = _ALPHABET[bits @ np.array([16, 8, 4, 2, 1], np.uint8)]
    prefix = np.broadcast_to(np.frombuffer(_PREFIX, np.uint8), (len(found), len(_PREFIX)))
    texts = np.concatenate([prefix, letters], axis=1)
    hashes = as_strings(texts.reshape(-1), np.arange(len(found) + 1, dtype=np.int64) * texts.shape[1])
    return pc.if_else(found.is_valid(), hashes, None) if found.null_count else hashes


def _each_normalised(raw: pa.Array) -> pa.Array:
    """The token that each value has in a column of its own."""
    folded = fold(raw)
    classes = classify(read(folded))
    found = np.array(tokens(folded, ColumnType("text")).to_pylist(), object)
    for value_class in map(ValueClass, np.unique(classes).tolist()):
        column_type = _type_of(value_class)
        if column_type is not None:
            places = np.flatnonzero(classes == value_class)
            found[places] = tokens(folded.take(pa.array(places)), column_type).to_pylist()
    return pa.array(found, pa.large_string())


def _type_of(value_class: ValueClass) -> ColumnType | None:
    """The type of a column of nothing but such values, where it is not text."""
    if value_class in NUMBERS:
        return ColumnType("real")
    date_format = format_of(frozenset({value_class}))
    return None if date_format is None else ColumnType(date_format.kind, date_format.name)
