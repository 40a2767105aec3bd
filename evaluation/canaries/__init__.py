"""Canaries: what is watched of a live ranker, snapshot by snapshot, and when people are told."""
