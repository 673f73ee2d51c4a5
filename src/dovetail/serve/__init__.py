"""Dovetail over HTTP and for assistants: the verbs of the library as REST, as tools, and as pages."""
