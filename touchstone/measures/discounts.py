"""What the gain at each rank is divided by. Made once, by the C library's log2, and frozen.

`math.log2` and not `np.log2`: the two differ in the last bit from rank 1620 on, and trec_eval,
like every tool written in C, has the former's.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from touchstone.measures.definition import Measure

FloatArray = npt.NDArray[np.float64]


def divisors(measure: Measure, depth: int) -> FloatArray:
    """The divisors of ranks 1..depth, as a read-only array.

    The linear discount gives k / (k + 1 - i), that is, a weight falling from 1 to 1 / k.
    Sources: Järvelin & Kekäläinen 2002 (burn-in); Burges et al. 2005 (log2 of rank + 1).
    """
    room = 1 << max(depth - 1, 255).bit_length()
    cutoff = measure.cutoff if measure.discount == "linear" else None
    return _divisors(measure.discount, measure.b, cutoff, room)[:depth]


@lru_cache(maxsize=64)
def _divisors(discount: str, b: float | None, cutoff: int | None, depth: int) -> FloatArray:
    ranks = range(1, depth + 1)
    k = cutoff or 0
    divisor_at: dict[str, Callable[[int], float]] = {
        "log2": lambda i: math.log2(i + 1),
        "ln": lambda i: math.log(i + 1),
        "ln/ln2": lambda i: math.log(i + 1) / math.log(2),
        "burn-in": lambda i: _burn_in(i, b or math.nan),
        "reciprocal": float,
        "linear": lambda i: k / (k + 1 - i) if i <= k else math.inf,
        "none": lambda _: 1.0,
    }
    table = [divisor_at[discount](i) for i in ranks]
    out = np.array(table, np.float64)
    out.flags.writeable = False
    return out


def _burn_in(rank: int, b: float) -> float:
    return 1.0 if rank <= b else math.log(rank) / math.log(b)
