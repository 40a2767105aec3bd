"""Passwords and API keys for other servers: encrypted when stored, and never shown again."""
