"""Tables whose rows can be appended to mine: find them, align their columns, append them."""
