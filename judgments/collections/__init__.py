"""Collections, and the queries and documents in them."""
