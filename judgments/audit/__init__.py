"""Who changed what, written with the change itself."""
