"""Campaigns and labelling for programs; docs/rest.md describes them."""
