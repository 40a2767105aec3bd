"""Files of queries, documents and judgments into a collection."""
