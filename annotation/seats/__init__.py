"""Seats of pairs, and the order in which each annotator meets them."""
