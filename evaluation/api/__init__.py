"""Rankers, runs and leaderboards for programs; docs/rest.md describes them."""
