"""The only places that write what evaluation owns."""
