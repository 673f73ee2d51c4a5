"""The offline half: lake in, segments out. Two Spark jobs for ordinary tables' worth of work, see `run.py`."""
