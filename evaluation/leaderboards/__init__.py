"""Leaderboards, their segments and files, and the measures that they can show."""
