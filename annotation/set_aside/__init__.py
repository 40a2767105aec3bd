"""Setting a person's labels aside or pausing them: its effect beforehand, and doing it."""
