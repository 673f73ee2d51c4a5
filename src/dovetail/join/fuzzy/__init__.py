"""Constrained fuzzy join (section 4.6 of Auto-Join): configured by the cardinality of the join, not by the user."""
