"""Data sets in a lake: Parquet that workers evaluate where it is; the database has only sums."""
