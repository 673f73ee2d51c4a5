"""Columns worth having: what the tables that join with mine add to predicting a column of mine."""
