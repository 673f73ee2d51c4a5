"""Search: which tables join with mine, on which columns, how well and why."""
