"""Budgets in labels or money, in total or a month, for anything that costs: warned of, and kept."""
