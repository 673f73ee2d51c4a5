"""The indexes: one folder for each, the same files in each."""
