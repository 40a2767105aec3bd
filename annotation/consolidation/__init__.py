"""From labels to grades: which labels count, what they come to, and the commit to the list."""
