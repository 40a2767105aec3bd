"""A Touchstone server, asked from a notebook, a script or a CI job; the standard library alone."""
