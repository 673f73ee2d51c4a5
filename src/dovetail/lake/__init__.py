"""The lake: listing table files and turning each, whatever its format and state, into rows of raw strings."""
