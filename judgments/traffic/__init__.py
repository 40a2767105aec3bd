"""Traffic logs of a collection: millions of queries with their searches, and how concentrated."""
