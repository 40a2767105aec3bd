"""How rows and cached values are written and read; cached bytes hold no code."""
