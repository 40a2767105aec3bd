"""The versions of a list: committing judgments, and reading any version or difference."""
