"""What researchers and leads see of rankers and their values."""
