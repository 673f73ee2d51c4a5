"""The probabilities and shares at which something is done or shown."""

LIKELY_JOIN = 0.4
"""What is less likely is not joined unless a person asks for it. Of 0.5, 0.45, 0.4 and 0.3, chosen by left-out scores:
0.5 leaves more joins of declared keys alone, 0.3 joins more strangers (docs/benchmarks.md)."""
CERTAIN_JOIN = 0.95
"""What is left of certainty is not worth the time of other methods; arbitrary."""
NAMED_RUNNER_UP = 0.05
"""The least probability of a candidate that is named beside the one that joins; arbitrary."""
LIKELY_THROUGH = 0.5
"""A join through the lake is made unasked, and is a hit, if it is more likely right than wrong."""
LIKELY_REFERENCE = 0.5
"""A column more likely refers to a key than not."""
LIKELY_UNION = 0.5
"""A person would more likely append the table than not."""
SHOWN_HIT = 0.04
"""A less likely hit is not worth a line; arbitrary: one in twenty-five makes sense."""
SHOWN_SHARE = 0.2
"""Of the smaller side's values, after a transformation or by parts: less is not worth a line; set by hand."""
