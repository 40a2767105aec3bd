"""Exact sums for weighted means: what must be known of weights and values, as sums of integers.

A value v is the integer q = round(v * 2**60), as in `exact`; a query's weight w is the integer
u = round(w * 2**72). A weighted mean and its standard error need the sums, over the queries in the
mean, of u, uq, u², u²q and u²q². Those are wide: up to 368 bits for one query. So every term is
cut into digits of 30 bits, and what is kept is the sum of each digit, an int64 of its own. A term's
digits follow from its query alone; so their sums do not depend on the order either, and

    sums(all, new) == sums(all, old) - sums(touched, old) + sums(touched, new)

holds bit for bit, without a carry between digits.

Limits: weights below 2**40, |value| < 4096, 2**33 queries. A weight below 2**-73 counts as none.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.measures.exact import (
    COLUMNS,
    FRACTION_BITS,
    BoolArray,
    FloatArray,
    IntArray,
    fixed_point,
    root_of_quotient,
)

WEIGHT_BITS: Final = 72
LARGEST_WEIGHT: Final = 2.0**40
DIGIT_BITS: Final = 30
# The sums, and how many digits each has: u, uq, u², u²q, u²q².
DIGITS: Final = (4, 7, 8, 10, 13)
WIDE_ROWS: Final = sum(DIGITS) // len(COLUMNS)

_MASK: Final = 2**DIGIT_BITS - 1
_CHUNK: Final = 2**15  # values worked on at once: some forty arrays of them fit into the cache

Digits = list[npt.NDArray[np.int64]]


def weighted_sums(values: FloatArray, counted: BoolArray, weights: FloatArray) -> IntArray:
    """The exact weighted sums over the queries, for every measure.

    values, counted: as in `exact_sums`, (..., n_queries, n_measures). weights: (n_queries,).
    Returns int64 (..., n_measures, WIDE_ROWS, 6).
    Raises ValueError for a weight that is not above 0 and below LARGEST_WEIGHT.
    """
    if not ((weights > 0) & (weights < LARGEST_WEIGHT)).all():
        raise ValueError(f"a weight must be above 0 and below {LARGEST_WEIGHT:g}")
    whole = [round(weight) for weight in np.ldexp(weights, WEIGHT_BITS).tolist()]
    once, twice = _digits(whole, DIGITS[0]), _digits([u * u for u in whole], DIGITS[2])
    out = np.zeros((*values.shape[:-2], values.shape[-1], sum(DIGITS)), np.int64)
    step = max(1, _CHUNK // max(1, values.size // max(1, values.shape[-2])))
    for start in range(0, values.shape[-2], step):
        rows = slice(start, start + step)
        own = [[digit[rows, None] for digit in number] for number in (once, twice)]
        out += _chunk_sums(values[..., rows, :], counted[..., rows, :], *own)
    return out.reshape(*out.shape[:-1], WIDE_ROWS, len(COLUMNS))


def weighted_mean(sums: IntArray) -> float | None:
    """Σ w·v / Σ w of one measure, rounded once to float64; None where nothing weighs anything."""
    weight, total, *_ = _integers(sums)
    return total / (weight << FRACTION_BITS) if weight else None


def weighted_error(sums: IntArray, n: int) -> float | None:
    """The standard error of a weighted mean m; None below two queries.

    sqrt(n / (n - 1) * Σ w² (v - m)²) / Σ w, computed in integers and rounded once; with equal
    weights it is s / sqrt(n). Source: Cochran 1977, the ratio of two means.
    """
    weight, total, squares, crossed, both = _integers(sums)
    if n < 2 or not weight:
        return None
    spread = weight * weight * both - 2 * weight * total * crossed + total * total * squares
    return root_of_quotient(n * spread, (n - 1) * weight**4) / 2.0**FRACTION_BITS


def _chunk_sums(values: FloatArray, counted: BoolArray, once: Digits, twice: Digits) -> IntArray:
    used = np.where(counted, values, 0.0)
    magnitudes = _value_digits(np.abs(used))
    signs = np.sign(used).astype(np.int64)
    weighed = _product(once, magnitudes, DIGITS[1])
    parts = (
        (once, counted),
        (weighed, signs),
        (twice, counted),
        (_product(twice, magnitudes, DIGITS[3]), signs),
        (_product(weighed, weighed, DIGITS[4]), None),
    )
    digits = [
        digit if factor is None else digit * factor for number, factor in parts for digit in number
    ]
    return np.stack([digit.sum(axis=-2) for digit in digits], axis=-1)


def _value_digits(magnitudes: FloatArray) -> Digits:
    high, low = fixed_point(magnitudes)
    first = low & _MASK
    second = (high & (_MASK >> 2)) << 2 | low >> DIGIT_BITS
    return [first, second, high >> (DIGIT_BITS - 2)]


def _product(left: Digits, right: Digits, n_digits: int) -> Digits:
    """The digits of left * right. A column is the sum of at most seven products below 2**60."""
    columns: list[npt.NDArray[np.int64] | int] = [0] * n_digits
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            columns[i + j] = columns[i + j] + a * b
    out: Digits = []
    carried: npt.NDArray[np.int64] | int = 0
    for column in columns:
        whole = np.asarray(column + carried, np.int64)
        out.append(whole & _MASK)
        carried = whole >> DIGIT_BITS
    return out


def _digits(numbers: list[int], n_digits: int) -> Digits:
    return [
        np.array([number >> DIGIT_BITS * position & _MASK for number in numbers], np.int64)
        for position in range(n_digits)
    ]


def _integers(sums: IntArray) -> list[int]:
    """The five sums of one measure, (WIDE_ROWS, 6), as Python integers."""
    digits = sums.ravel().tolist()
    out, start = [], 0
    for n_digits in DIGITS:
        own = digits[start : start + n_digits]
        out.append(sum(digit << DIGIT_BITS * position for position, digit in enumerate(own)))
        start += n_digits
    return out
