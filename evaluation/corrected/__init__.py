"""A machine judge's means, corrected by random queries that people judged."""
