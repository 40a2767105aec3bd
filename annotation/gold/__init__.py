"""Pairs with a known answer: marking, planting and checking them, and what follows for a person."""
