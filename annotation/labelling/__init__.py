"""The annotator's work: leases, labels, undo, skips, and the labelling page."""
