"""The pieces of values, for tables that join after a transformation (section 5.3.1 of Zhu's thesis)."""
