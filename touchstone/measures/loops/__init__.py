"""Loops over ranks and values: `touchstone.compiled` compiles them.

They say what `joining`, `ndcg` and `exact` say with arrays, bit for bit, and are nobody's
authority. Branches on what cannot be foreseen are avoided: they cost more than all the rest. What
is read or written in a row is a slice: of `cells[start + place]` Numba believes that the index may
be negative, and neither reads nor writes several of them at once.
"""

from touchstone.measures.loops.looking_up import look_up
from touchstone.measures.loops.normalising import count, normalise
from touchstone.measures.loops.scoring import score
from touchstone.measures.loops.summing import add_digits

__all__ = ["add_digits", "count", "look_up", "normalise", "score"]
