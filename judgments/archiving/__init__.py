"""Collections and lists that are archived: hidden, read-only, restorable."""
