"""Another consolidation rule for a campaign: its effect beforehand, and choosing it."""
