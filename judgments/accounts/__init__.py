"""Accounts of the installation: signing in, tokens, sessions."""
