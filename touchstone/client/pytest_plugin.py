"""Fixtures for pytest, which finds them where touchstone is installed."""

import pytest

from touchstone.client.api import Client
from touchstone.client.gate import GateResult


class AssertNoRegression:
    """Fails the test where a run is worse than a baseline by more than `max_drop`.

    list_name: as collection/list; run, baseline: as ranker/run, a ranker for its newest run, or an
    id. With `strict`, too few queries to tell fail it too. Gives the result, which says more.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def __call__(
        self,
        list_name: str,
        *,
        run: str,
        baseline: str,
        measure: str,
        max_drop: float,
        level: float = 0.95,
        strict: bool = False,
    ) -> GateResult:
        __tracebackhide__ = True
        result = self._client.gate(
            list_name, run=run, baseline=baseline, measure=measure, max_drop=max_drop, level=level
        )
        if result.exit_status(strict=strict):
            pytest.fail(result.sentence, pytrace=False)
        return result


@pytest.fixture(scope="session")
def touchstone_client() -> Client:
    """The server of `TOUCHSTONE_URL` with `TOUCHSTONE_TOKEN`, or as `touchstone login` saved it."""
    return Client()


@pytest.fixture
def assert_no_regression(touchstone_client: Client) -> AssertNoRegression:
    """Fails the test where a run is worse than a baseline by more than a margin."""
    return AssertNoRegression(touchstone_client)
