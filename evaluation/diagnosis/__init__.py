"""One run query by query, and why a value is what it is."""
