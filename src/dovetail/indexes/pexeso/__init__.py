"""PEXESO: which columns match mine in spelling or meaning, value by value?

Exact under a distance of vectors. Dong, Takeoka, Xiao, Oyamada: "Efficient Joinable Table Discovery in Data Lakes: A
High-Dimensional Similarity-Based Approach", ICDE 2021, doi:10.1109/ICDE51399.2021.00046. Departures:
docs/algorithms/pexeso.md.
"""
