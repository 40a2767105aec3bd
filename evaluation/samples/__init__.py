"""Means over a sample in two readings, per query and per search, with design-based errors."""
