"""Reviewers, who see a share of each person's labels and send some of them back."""
