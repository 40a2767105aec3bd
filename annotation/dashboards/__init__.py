"""A campaign as leads, annotators and researchers see it."""
