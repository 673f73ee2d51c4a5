"""Find the tables that join with a frame, see why, and join one. This needs neither Spark nor Java.

Run from the repository's root, after 01_index.py: .venv/bin/python examples/03_search_and_join.py
"""

from __future__ import annotations

import pandas as pd

import dovetail


def main(index: str = "sample-lake.idx") -> None:
    lake = dovetail.open(index)
    sales = pd.DataFrame({"country": ["CH", "FR", "US", "JP"], "sold": [5, 7, 11, 13]})

    hits = lake.search(sales, on="country", k=3)
    print(hits)

    countries = lake.search(sales, on="country", tables="geo/countries.csv")[0]
    print(countries.explain())

    wide = countries.join(sales)  # pandas went in, pandas comes out
    print(wide[["country", "sold", "Name", "Continent"]])


if __name__ == "__main__":
    main()
