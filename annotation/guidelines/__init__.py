"""Guidelines: how to grade, in revisions that never change."""
