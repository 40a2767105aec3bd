"""Figures that a worker computes and stores, and how current they are."""
