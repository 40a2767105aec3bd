"""The only places that write annotation's tables."""
