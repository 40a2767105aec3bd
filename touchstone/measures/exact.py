"""Exact sums of measure values: the same bits for any order of summation.

A value v becomes the integer q = round(v * 2**60), half to even. What is kept per measure is the
number of queries in the mean, the sum of their q, and the sum of their q squared, all of them
integers. So adding is associative, subtracting undoes adding, and

    sums(all, new version) == sums(all, old version) - sums(touched, old) + sums(touched, new)

holds bit for bit. The mean is read off once, rounded correctly to float64. "Exact" therefore means:
exact for the values rounded to 2**-60, which changes no value of 2**-8 or more.

In memory the sums are one int64 array whose last axis has the six columns of `COLUMNS`; the axis
before it is the measures; axes before that (runs, for example) are free. Wide numbers are split
into limbs that are always normalised (every limb but the highest lies in [0, base)), so equal sums
are equal arrays and equal bytes.

    counted, values = …                                 # (…, n_queries, n_measures)
    sums = exact_sums(values, counted)                  # (…, n_measures, 6)
    sums = add(subtract(sums, old), new)
    row.sums = to_bytes(sums[i])                        # one run: n_measures * 48 bytes
    means(from_bytes(row.sums)), standard_errors(from_bytes(row.sums))

Limits: |value| < 4096, and Σ|v| < 2**34, Σv² < 2**38 in all: any number of queries there can be.
"""

import math
from typing import Final

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

COLUMNS: Final = ("n", "sum_high", "sum_low", "square_high", "square_middle", "square_low")
BYTES_PER_MEASURE: Final = 8 * len(COLUMNS)
FRACTION_BITS: Final = 60
LARGEST_VALUE: Final = 4096.0

_MASK32: Final = 2**32 - 1
_LOW_BITS: Final = 32  # sum = sum_high * 2**32 + sum_low
_SQUARE_BITS: Final = 48  # squares = (square_high * 2**48 + square_middle) * 2**48 + square_low
_MASK48: Final = 2**_SQUARE_BITS - 1
_CHUNK: Final = 2**17  # values summed at once: bounds memory, and digits cannot overflow


def exact_sums(values: FloatArray, counted: BoolArray) -> IntArray:
    """Exact sums over the queries, for every measure.

    values: float64 (..., n_queries, n_measures), finite wherever it counts.
    counted: bool of the same shape: is the query in the mean of that measure.
    Returns int64 (..., n_measures, 6), the columns of COLUMNS. No query at all gives zeros.
    Raises ValueError where a counted value is not finite or not below LARGEST_VALUE.
    """
    if values.shape != counted.shape or values.ndim < 2:
        raise ValueError("values and counted must have one shape (..., n_queries, n_measures)")
    out = np.zeros((*values.shape[:-2], values.shape[-1], len(COLUMNS)), np.int64)
    step = max(1, _CHUNK // max(1, values.size // max(1, values.shape[-2])))
    for start in range(0, values.shape[-2], step):
        here = (..., slice(start, start + step), slice(None))
        out += _chunk_sums(values[here], counted[here])
        _normalise(out)
    return out


def add(left: IntArray, right: IntArray, *, wide: int = 0) -> IntArray:
    """The exact sums of both together. Shapes broadcast.

    wide: that many rows at the end are `weighting`'s, which carry nothing.
    """
    out = left + right
    _normalise(out[..., : out.shape[-2] - wide, :])
    return out


def subtract(left: IntArray, right: IntArray, *, wide: int = 0) -> IntArray:
    """The exact sums of `left` without those that `right` holds. Shapes broadcast."""
    out = left - right
    _normalise(out[..., : out.shape[-2] - wide, :])
    return out


def to_bytes(sums: IntArray) -> bytes:
    """One row's sums, (n_measures, 6), as little-endian bytes, measure by measure."""
    if sums.ndim != 2 or sums.shape[1] != len(COLUMNS):
        raise ValueError(f"expected sums of shape (n_measures, {len(COLUMNS)})")
    return sums.astype("<i8").tobytes()


def from_bytes(packed: bytes) -> IntArray:
    """The sums that `to_bytes` packed, (n_measures, 6)."""
    if len(packed) % BYTES_PER_MEASURE:
        raise ValueError(f"packed sums are {BYTES_PER_MEASURE} bytes a measure")
    flat = np.frombuffer(packed, "<i8").astype(np.int64)
    return flat.reshape(-1, len(COLUMNS))


def counts(sums: IntArray) -> list[int]:
    """The number of queries in each measure's mean; sums of shape (n_measures, 6)."""
    return [int(n) for n in sums[:, 0]]


def means(sums: IntArray) -> list[float | None]:
    """Each measure's mean, rounded once to float64; None where no query counts."""
    return [_mean(*as_integers(row)[:2]) for row in sums.tolist()]


def standard_errors(sums: IntArray) -> list[float | None]:
    """Each mean's standard error, s / sqrt(n) with n - 1 in s; None below two queries.

    Computed in integers and rounded once, so it is exactly 0 when all values are equal.
    """
    return [_standard_error(*as_integers(row)) for row in sums.tolist()]


def _chunk_sums(values: FloatArray, counted: BoolArray) -> IntArray:
    by_measure = (values if counted.all() else np.where(counted, values, 0.0)).swapaxes(-1, -2)
    used = np.ascontiguousarray(by_measure)  # queries last: sums run along memory
    negative = used < 0
    some_negative = bool(negative.any())
    magnitudes = np.abs(used) if some_negative else used
    if not (magnitudes < LARGEST_VALUE).all():  # NaN compares false, so it is caught too
        raise ValueError(f"a value to be summed must be finite and below {LARGEST_VALUE:g}")
    high, low = fixed_point(magnitudes)
    out = np.empty((*used.shape[:-1], len(COLUMNS)), np.int64)
    out[..., 0] = np.count_nonzero(counted, axis=-2)
    _square_sums(high, low, out)
    if some_negative:
        np.negative(high, out=high, where=negative)
        np.negative(low, out=low, where=negative)
    out[..., 1] = high.sum(axis=-1)
    out[..., 2] = low.sum(axis=-1)
    return out


def fixed_point(magnitudes: FloatArray) -> tuple[IntArray, IntArray]:
    """round(m * 2**60) of values >= 0 as high * 2**32 + low, with low in [0, 2**32)."""
    if magnitudes.max(initial=0.0) < 8.0:  # as good as always: then 64 bits hold it whole
        whole = np.rint(magnitudes * 2.0**FRACTION_BITS).astype(np.int64)
        return whole >> _LOW_BITS, whole & _MASK32
    scaled = magnitudes * 2.0**28  # exact: a power of two
    floor = np.floor(scaled)
    high = floor.astype(np.int64)
    low = np.rint((scaled - floor) * 2.0**32).astype(np.int64)  # the difference is exact as well
    return high + (low >> _LOW_BITS), low & _MASK32


def _square_sums(high: IntArray, low: IntArray, out: IntArray) -> None:
    """Sum (high * 2**32 + low)**2 over the queries into the three square columns of `out`.

    The square is laid out in digits of 32 bits. High is below 2**40, so its upper digit is below
    2**8 and every product below fits into 64 bits without a sign.
    """
    d0, d1 = low.astype(np.uint64), (high & _MASK32).astype(np.uint64)
    cross = d0 * d1
    products = [(0, d0 * d0), (1, cross), (2, d1 * d1)]
    if int(high.max(initial=0)) < 2**31:  # all values below 8, as good as always
        cross *= np.uint64(2)
    else:
        d2 = (high >> _LOW_BITS).astype(np.uint64)
        products += [(1, cross), (2, 2 * d0 * d2), (3, 2 * d1 * d2), (4, d2 * d2)]
    digits = [np.zeros(out.shape[:-1], np.int64) for _ in range(6)]
    for position, product in products:
        digits[position] += (product & np.uint64(_MASK32)).sum(axis=-1).astype(np.int64)
        digits[position + 1] += (product >> np.uint64(_LOW_BITS)).sum(axis=-1).astype(np.int64)
    for position in range(5):
        digits[position + 1] += digits[position] >> _LOW_BITS
        digits[position] &= _MASK32
    out[..., 5] = digits[0] | (digits[1] & 0xFFFF) << 32
    out[..., 4] = digits[1] >> 16 | digits[2] << 16
    out[..., 3] = digits[3] + (digits[4] << 32)  # Σv² < 2**38 keeps this below 2**63


def _normalise(sums: IntArray) -> None:
    """Carry upwards in place, so that equal numbers have equal limbs."""
    sums[..., 1] += sums[..., 2] >> _LOW_BITS
    sums[..., 2] &= _MASK32
    for position in (5, 4):
        sums[..., position - 1] += sums[..., position] >> _SQUARE_BITS
        sums[..., position] &= _MASK48


def as_integers(row: list[int]) -> tuple[int, int, int]:
    """(n, Σq, Σq²) of one measure as Python integers."""
    n, sum_high, sum_low, square_high, square_middle, square_low = row
    squares = ((square_high << _SQUARE_BITS) + square_middle << _SQUARE_BITS) + square_low
    return n, (sum_high << _LOW_BITS) + sum_low, squares


def _mean(n: int, total: int) -> float | None:
    # Python rounds the quotient of two integers correctly.
    return total / (n << FRACTION_BITS) if n else None


def _standard_error(n: int, total: int, squares: int) -> float | None:
    if n < 2:
        return None
    spread = n * squares - total * total  # = n (n - 1) s² 2**120
    return root_of_quotient(spread, n * n * (n - 1)) / 2.0**FRACTION_BITS


def root_of_quotient(numerator: int, denominator: int) -> float:
    """sqrt(numerator / denominator), correctly rounded."""
    if numerator == 0:
        return 0.0
    # 2**shift lifts the root to at least 64 bits; a sticky last bit then rounds it right.
    shift = max(0, 64 - (numerator.bit_length() - denominator.bit_length()) // 2 + 1)
    quotient, rest = divmod(numerator << (2 * shift), denominator)
    root = math.isqrt(quotient)
    sticky = int(rest != 0 or root * root != quotient)
    return math.ldexp(float(root << 1 | sticky), -shift - 1)
