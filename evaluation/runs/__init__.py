"""Rankers and their runs: registering, uploading, choosing and withdrawing them."""
