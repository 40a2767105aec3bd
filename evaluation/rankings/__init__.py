"""Stored rankings: reading them, and writing them as files."""
