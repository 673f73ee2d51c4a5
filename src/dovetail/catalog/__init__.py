"""The catalog: what tables and columns there are, and what is in them."""
