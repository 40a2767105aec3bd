"""Exact sums of runs on versions: what is due, computing, keeping and verifying them."""
