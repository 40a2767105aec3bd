"""Labels that were given elsewhere, from a file."""
