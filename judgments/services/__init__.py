"""The only places that write the hub's tables."""
