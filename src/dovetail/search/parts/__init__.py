"""Search by the parts of cells that hold several values."""
