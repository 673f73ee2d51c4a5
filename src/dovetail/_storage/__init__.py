"""Bytes on disk: sealed JSON, packs of arrays, segments, the index directory and its verification."""
