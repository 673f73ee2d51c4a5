"""Joining tables whose keys are written differently, by learned transformations (Auto-Join).

E. Zhu, Y. He, S. Chaudhuri: Auto-Join: Joining Tables by Leveraging Transformations, PVLDB 10(10), 2017,
doi:10.14778/3115404.3115409; and chapter 4 of E. Zhu's thesis. What is done otherwise here:
docs/algorithms/auto_join.md.

    suffixes     the suffix array of a column, and the longest q-grams that two columns share
    matches      row pairs that are likely to join, grouped by pair of columns
    operators    what a program is made of
    candidates   the operators that could make a part of the wanted values
    search       the cheapest program that makes all examples
    discover     example sets, both directions, ranking by coverage, several programs together
"""

from dovetail.transform.discover import Discovery, discover
from dovetail.transform.operators import Constant, Extract, Program, Split

__all__ = ["Constant", "Discovery", "Extract", "Program", "Split", "discover"]
