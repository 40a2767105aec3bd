"""Queries and documents as people browse them."""
