"""What REST shares: tokens, requests, errors, pages of results, the schema."""
