"""What is kept about a person, and how a person is erased."""
