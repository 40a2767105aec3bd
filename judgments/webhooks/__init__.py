"""Webhooks: events that are sent to other servers, signed as Standard Webhooks."""
