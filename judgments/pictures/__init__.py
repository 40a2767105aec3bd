"""Pictures of documents: fetched or uploaded once, re-encoded, served from this server."""
