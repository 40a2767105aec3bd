"""Pairs that people disagree on: the queue, deciding them, and a pair's history."""
