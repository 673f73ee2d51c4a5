"""Join: the joined table, by the same normaliser as search, so that the rows are those that search promised."""
