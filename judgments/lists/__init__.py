"""Judgment lists: their versions, differences, releases and exports."""
