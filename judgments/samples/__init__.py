"""Samples of a frame: designs, seeded draws, and which queries each drew."""
