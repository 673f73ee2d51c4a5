"""Spark support for the offline half. Nothing online imports this package."""
