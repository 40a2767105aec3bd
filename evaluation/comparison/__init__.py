"""Runs side by side: differences, what changed, and what unjudged documents leave open."""
