"""The studentized range against scipy.stats."""

import subprocess
import sys

import pytest
from scipy.stats import studentized_range
from scipy.stats import t as student

from touchstone.statistics.studentized_range import quantile, survival


@pytest.mark.parametrize(
    ("k", "df"), [(2, 1), (3, 2), (8, 7), (8, 69_993), (12, 540), (50, 49), (200, 199)]
)
def test_chances_and_quantiles_are_those_of_scipy(k: int, df: int) -> None:
    for q in (0.0, 0.5, 3.0, 5.5):
        assert survival(q, k, df) == pytest.approx(studentized_range.sf(q, k, df), abs=1e-10)
    assert quantile(0.95, k, df) == pytest.approx(studentized_range.ppf(0.95, k, df), rel=1e-9)


def test_a_chance_far_out_is_no_rounding_error() -> None:
    # of two means it is √2 times the absolute value of a t
    expected = 2 * student.sf(60 / 2**0.5, 3)
    assert survival(60.0, 2, 3) == pytest.approx(expected, rel=1e-9)
    assert survival(30.0, 8, 69_993) < 1e-14


def test_tukeys_test_leaves_scipy_stats_alone() -> None:
    code = (
        "import sys, numpy; from touchstone.statistics.tukey import tukey_hsd;"
        "tukey_hsd(numpy.eye(4)); print('scipy.stats' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "False\n"
