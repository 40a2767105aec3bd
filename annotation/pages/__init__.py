"""What annotation's pages share."""
