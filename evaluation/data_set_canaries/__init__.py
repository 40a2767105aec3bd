"""Canaries of data sets: rules for their means, day by day, and when people are told."""
