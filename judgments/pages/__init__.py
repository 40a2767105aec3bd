"""What the pages of all three applications share."""
