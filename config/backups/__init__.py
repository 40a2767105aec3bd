"""Backups: one file that holds all of an installation, and says what it must come to."""
