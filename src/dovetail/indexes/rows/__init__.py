"""The row store: which values occur together in a row? Exact: for every cell the token of its column's set."""
