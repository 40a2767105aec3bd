"""Which pairs to judge next."""
