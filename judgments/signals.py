"""The one signal that goes upward."""

from django.dispatch import Signal

# Sent after a commit made version `number` of list `list_id`: a hint that work exists. What is
# due is always found by comparing rows, so nothing breaks when a receiver misses it.
version_committed = Signal()
