"""What charts of someone's figures over time show."""

import pytest

from annotation.quality.assessment import COURSES
from annotation.quality.queries import POSSIBLE, _show_course


def window(low: float, high: float) -> dict[str, float]:
    return {"low": low, "mean": (low + high) / 2, "high": high}


@pytest.mark.parametrize(
    ("what", "low", "high"),
    [
        ("gold", 0.0, 1.0),
        ("right", 0.0, 1.0),
        ("alpha", -0.4, 1.0),
        ("seconds", 0.0, 1.3),
        ("bias", -0.4, 1.3),
    ],
)
def test_no_limit_goes_beyond_what_the_quantity_can_be(what: str, low: float, high: float) -> None:
    shown = _show_course({"what": what, "change": None, "windows": [window(-0.4, 1.3)]})
    assert (shown.windows[0]["low"], shown.windows[0]["high"]) == (low, high)
    assert shown.windows[0]["mean"] == pytest.approx(0.45)


def test_every_bounded_quantity_is_one_that_is_shown() -> None:
    assert set(POSSIBLE) < set(COURSES)
