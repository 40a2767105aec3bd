"""What a campaign asks about: pools, and pairs to judge next."""
