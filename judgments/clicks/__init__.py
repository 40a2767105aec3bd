"""Clicks as evidence: importing logs, their ledger, position bias, and what their pairs got."""
