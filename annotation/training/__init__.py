"""The stage before the pairs that count."""
