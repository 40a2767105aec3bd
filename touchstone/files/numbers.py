"""What a number looks like in a text file, stricter than Python's `float` and `int`."""

from typing import Final

# Possessive, so that a long row of digits that ends in something else fails at once. Not among
# them: 1_000, digits of other scripts, hexadecimals, nan and inf.
NUMBER: Final = r"[+-]?+(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+"
INTEGER: Final = r"[+-]?+[0-9]++"
