"""The best columns to join tables on, by a preference on the joined rows, without schemas. Exact.

Chuancong Gao, Jian Pei, Jiannan Wang, Yi Chang: Schemaless Join for Result Set Preferences. IEEE IRI 2017,
doi:10.1109/IRI.2017.89.

    coding       columns as numbers that mean the same in all tables; null never joins
    scores       the five preferences h1 to h5 and their upper bounds
    kernels      children of a predicate by a multi-way merge join; groups are counted, rows never made
    groups       the joining groups of a predicate of two tables
    search       the k best closed predicates, best bound first
    many         the joining groups of more than two tables, which a predicate connects one after another
    key_kernels  their children by merge joins over classes of rows
"""
