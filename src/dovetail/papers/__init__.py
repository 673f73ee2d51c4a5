"""Published algorithms as they are printed, over the indexes of a lake: for researchers, tests and benchmarks.

    josie           top-k overlap: JOSIE, MergeList-D, ProbeSet-D
    lsh_ensemble    containment from sketches in partitions of least cost
    mate            tables that contain a key of several columns: Algorithm 1, XASH
    pexeso          columns of similar values: block and verify, partitions on disk
    many            inclusion dependencies from Bloom signatures
    auto_join       programs by Algorithm 4, the constrained fuzzy join of section 4.6
    schemaless      the k best predicates by a preference on the joined rows

Each function takes an index (an open `Lake` or its path) or tables, and plain values. It returns what it found with the
counters of its work. The product has algorithms of its own where these are slower or find less, and imports none
of these; property tests and benchmarks compare the two. The pages of docs/algorithms say where and why they differ.
"""
