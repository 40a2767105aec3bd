"""Campaigns from draft to closed, and the people in them."""
