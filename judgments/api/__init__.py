"""The hub's resources for programs; docs/rest.md describes them."""
