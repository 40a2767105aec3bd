"""What evaluation's pages share."""
