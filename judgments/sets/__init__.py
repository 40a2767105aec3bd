"""Saved sets of queries, and looks at those that are held out."""
