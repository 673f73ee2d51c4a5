"""The indexes: one folder for each, with the same files in each (docs/dev/adding-an-index.md)."""
