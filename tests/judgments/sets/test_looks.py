"""What is said of how often held-out numbers were looked at."""

import pytest
from scipy import integrate, stats

from judgments.sets.looks import WORRYING, Looks, luck_of_best


@pytest.mark.parametrize("variants", [1, 2, 5, 10, 50, 400])
def test_the_luck_of_the_best_is_the_expected_largest_of_so_many_normal_deviates(variants):
    def largest(x):
        return x * variants * stats.norm.pdf(x) * stats.norm.cdf(x) ** (variants - 1)

    exact, _ = integrate.quad(largest, -8, 8, limit=200)
    assert luck_of_best(variants) == pytest.approx(exact, abs=0.03)


def test_it_is_a_worry_from_ten_looks_on():
    few, many = Looks(WORRYING - 1), Looks(WORRYING)
    assert (few.is_worry, few.warning, few.tone) == (False, "", "")
    assert many.is_worry
    assert many.warning.startswith("It has been looked at 10 times. ")
    assert "1.5 standard errors ahead" in many.warning
    assert many.tone == "warn"


def test_one_look_is_once():
    assert [Looks(count).words for count in (0, 1, 1_200)] == [
        "looked at 0 times",
        "looked at once",
        "looked at 1,200 times",
    ]
