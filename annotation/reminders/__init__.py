"""What leads are told without anybody having done something just then: found by comparing rows."""
