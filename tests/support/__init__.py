"""What several tests share: a pipeline without Spark, and ways to look at an index."""
