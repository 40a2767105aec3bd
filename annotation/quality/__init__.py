"""Whether a campaign's labels can be trusted: figures, findings, verdicts, costs."""
