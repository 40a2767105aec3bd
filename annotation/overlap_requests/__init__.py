"""Asking for second labels to measure agreement."""
