"""Judgments on documents that have changed since they were labelled."""
