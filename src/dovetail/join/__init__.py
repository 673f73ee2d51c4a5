"""Joins tables, with the same normaliser as search: a join delivers the rows that search promised."""
