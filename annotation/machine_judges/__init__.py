"""Machine judges: language models that label pairs, in revisions that never change."""
