"""Comparisons of runs without the labels of each annotator."""
