"""How large the database is, by table and index."""
