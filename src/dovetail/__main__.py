"""`python -m dovetail`: the same as the command `dovetail`."""

from __future__ import annotations

from dovetail.cli import main

if __name__ == "__main__":
    main()
