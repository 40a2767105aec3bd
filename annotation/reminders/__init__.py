"""What leads are told without anyone having done something just then: found by comparing rows."""
