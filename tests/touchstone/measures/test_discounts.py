"""Discounts, pinned: their last bits are part of every stored value."""

import hashlib
import math

import numpy as np
import pytest

from touchstone.measures.definition import Measure
from touchstone.measures.discounts import divisors


def table(depth: int, **parameters: object) -> list[float]:
    measure = Measure(family="nDCG", **parameters)  # type: ignore[arg-type]
    return [float(x) for x in divisors(measure, depth)]


def test_the_first_ten_thousand_log2_discounts_are_pinned_to_the_bit() -> None:
    packed = np.array(table(10_000), "<f8").tobytes()
    assert hashlib.sha256(packed).hexdigest() == PINNED


PINNED = "f3a723991560ad3e32415455e7838922631a92a48816bcde001e8d076efbacea"


def test_the_discount_is_the_c_librarys_log2_at_every_rank() -> None:
    assert table(5000) == [math.log2(rank + 1) for rank in range(1, 5001)]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"discount": "reciprocal"}, [1, 2, 3, 4]),
        ({"discount": "none"}, [1, 1, 1, 1]),
        ({"discount": "burn-in", "b": 2}, [1, 1, math.log(3) / math.log(2), 2]),
        ({"discount": "burn-in", "b": 3}, [1, 1, 1, math.log(4) / math.log(3)]),
        ({"discount": "linear", "cutoff": 4}, [1, 4 / 3, 2, 4]),
        ({"discount": "linear", "cutoff": 2}, [1, 2, math.inf, math.inf]),
        ({"discount": "ln"}, [math.log(i) for i in (2, 3, 4, 5)]),
        ({"discount": "ln/ln2"}, [math.log(i) / math.log(2) for i in (2, 3, 4, 5)]),
    ],
)
def test_the_other_discounts(parameters: dict[str, object], expected: list[float]) -> None:
    assert table(4, **parameters) == expected


def test_a_table_is_shared_and_cannot_be_changed() -> None:
    measure = Measure(family="nDCG")
    assert divisors(measure, 3).base is divisors(measure, 200).base
    with pytest.raises(ValueError, match="read-only"):
        divisors(measure, 3)[0] = 2.0
