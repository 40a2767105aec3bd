"""Annotation's pages: accessor, form, one service, and what to show."""
