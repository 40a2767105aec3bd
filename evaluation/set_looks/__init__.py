"""Looks at the numbers of held-out sets, recorded before they are shown."""
