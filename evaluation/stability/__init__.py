"""How stable an order of runs is against other queries and other labels."""
