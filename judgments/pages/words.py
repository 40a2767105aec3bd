"""Numbers and values as pages, messages and commands write them."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

NOTHING: Final = "–"


def fraction(value: float | None, digits: int = 4) -> str:
    """A measure's value with a fixed number of digits and a real minus; unknown as a dash."""
    if value is None or not isfinite(value):
        return NOTHING
    text = f"{abs(value):.{digits}f}"
    return f"{'−' if value < 0 and float(text) else ''}{text}"


def signed(value: float | None, digits: int = 4) -> str:
    """A difference with its sign (a real minus); what rounds to nought has none."""
    if value is None or not isfinite(value):
        return NOTHING
    text = f"{abs(value):.{digits}f}"
    if not float(text):
        return text
    return f"{'+' if value > 0 else '−'}{text}"


def percent(value: float | None, digits: int = 0) -> str:
    """A fraction as per cent, which no line break parts from its sign."""
    if value is None or not isfinite(value):
        return NOTHING
    return f"{fraction(100 * value, digits)}\N{NO-BREAK SPACE}%"


def p_value(value: float | None) -> str:
    """A p-value as far as resampling knows it: small ones only as small."""
    if value is None:
        return NOTHING
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def plain(value: Any) -> str:
    """A JSON value as a person would write it: several one after the other, yes and no."""
    if isinstance(value, Mapping):
        return "; ".join(f"{name} {plain(own)}" for name, own in value.items()) or NOTHING
    if isinstance(value, list):
        return ", ".join(map(plain, value)) or NOTHING
    if value is None or isinstance(value, bool):
        return {None: NOTHING, True: "yes", False: "no"}[value]
    return str(value) or NOTHING
