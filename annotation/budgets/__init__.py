"""Deadlines, targets a person and day, and what a campaign's labels may cost."""
