"""What loops are made of: types of arrays, and functions that become part of a loop."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt
from numba.extending import intrinsic

from touchstone.compiled import PLAINLY

Function = TypeVar("Function", bound=Callable[..., object])
Array = npt.NDArray[np.generic]
Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]


def part(function: Function) -> Function:
    """Part of a loop: what it is given need not be put on the stack."""
    return cast(Function, numba.njit(forceinline=True, **PLAINLY)(function))


def part_in_any_order(function: Function) -> Function:
    """For sums that no order changes, since all of them are exact."""
    fastmath = {"reassoc", "contract", "nsz"}
    compile_ = numba.njit(fastmath=fastmath, forceinline=True, **PLAINLY)
    return cast(Function, compile_(function))


def part_by_hand(function: Callable[..., Any]) -> Callable[..., None]:
    """Part of a loop that is put together of LLVM's own words, where Python has none."""
    return cast(Callable[..., None], intrinsic(function))
