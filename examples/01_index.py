"""Index a lake from Python, twice: the second run has nothing to read.

Run from the repository's root: .venv/bin/python examples/01_index.py
"""

from __future__ import annotations

import dovetail


def main(lake: str = "sample-lake", to: str = "sample-lake.idx") -> None:
    report = dovetail.index(lake, to)
    print(f"{report.tables} tables with {report.columns} columns and {report.rows:,} rows are in {to}.")
    for skipped in report.skipped:
        print(f"{skipped.path} was skipped: {skipped.reason}.")

    again = dovetail.index(lake, to)
    print(f"The second run read {again.added + again.changed} files and took {again.seconds:.1f} s.")

    print("The index is intact." if not dovetail.verify(to).problems else "The index is damaged.")


if __name__ == "__main__":
    main()
