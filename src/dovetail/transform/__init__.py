"""Joining tables whose keys are written differently, by learned transformations (Auto-Join).

E. Zhu, Y. He, S. Chaudhuri: Auto-Join: Joining Tables by Leveraging Transformations, PVLDB 10(10), 2017,
doi:10.14778/3115404.3115409; and chapter 4 of E. Zhu's thesis. Departures from the paper:
docs/algorithms/auto_join.md.

    suffixes     the suffix array of a column, and the longest q-grams that two columns share
    matches      row pairs that are likely to join, grouped by pair of columns
    program      what a program is made of, and what it makes of a table
    candidates   the operators that could make a part of the wanted values
    learn        the cheapest program that makes all examples
    greedy       the program that the paper's algorithm finds for them
    coverage     how much of a key a program reaches
    examples     both directions, pairs of columns, and sets of likely row pairs
    discover     ranking by coverage, several programs together
    composite    programs that make a part of a composite key
"""

from dovetail.transform.discover import Discovery, discover
from dovetail.transform.program import Constant, Extract, Program, Split

__all__ = ["Constant", "Discovery", "Extract", "Program", "Split", "discover"]
