"""The administrators' pages of accounts: what they end lies in all apps."""
