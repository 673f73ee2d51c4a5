"""Tables that a user gives: files, frames and tables of the lake, as columns of tokens."""
