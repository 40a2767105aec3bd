"""How sure a difference between rankers is: plain functions of arrays of per-query values."""
