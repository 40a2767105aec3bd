"""Comparisons of two rankers' data sets: differences of the queries that are in both."""
