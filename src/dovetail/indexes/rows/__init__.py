"""The exact row store: for every row of every table which of its column's tokens each cell holds."""
