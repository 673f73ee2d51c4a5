"""The methods of search and join: what decides which values match."""
