"""Search: what joins with a table of mine, how well and why."""
