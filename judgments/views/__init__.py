"""The hub's pages."""
