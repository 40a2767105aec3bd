"""Outcomes, retries, pauses and the circuit breaker, with a clock of the test's own."""

from datetime import UTC, datetime

import pytest

from evaluation.live_rankers.outcomes import Outcome, is_trouble, may_retry, outcome_of
from evaluation.live_rankers.schedules import ScheduleRefused, next_time
from evaluation.models.live import OUTCOMES
from judgments.outgoing.client import Outcome as Outgoing
from judgments.outgoing.pacing import BreakerRule, Pace, wait_before
from judgments.outgoing.retrying import retry_after

NOW = datetime(2026, 3, 14, 9, 26, 53, tzinfo=UTC)


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_every_way_in_which_a_request_fails_has_an_outcome_and_none_counts_as_an_answer():
    found = {outcome_of(one) for one in Outgoing}
    assert len(found) == len(Outgoing)
    assert found.isdisjoint({Outcome.OK, Outcome.EMPTY})
    assert set(OUTCOMES) == set(Outcome)


@pytest.mark.parametrize(
    ("outcome", "status", "retried", "trouble"),
    [
        (Outcome.HTTP_ERROR, 429, True, True),
        (Outcome.HTTP_ERROR, 503, True, True),
        (Outcome.HTTP_ERROR, 500, False, True),
        (Outcome.HTTP_ERROR, 400, False, False),
        (Outcome.HTTP_ERROR, 302, False, False),
        (Outcome.CONNECT, None, True, True),
        (Outcome.TIMEOUT, None, False, True),
        (Outcome.REFUSED, None, False, False),
        (Outcome.BAD_ANSWER, 200, False, False),
        (Outcome.PARTIAL, 200, False, False),
        (Outcome.OK, 200, False, False),
    ],
)
def test_what_is_tried_again(outcome, status, retried, trouble):
    assert (may_retry(outcome, status), is_trouble(outcome, status)) == (retried, trouble)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        ("0", 0),
        ("Sat, 14 Mar 2026 09:27:53 GMT", 60),
        ("Sat, 14 Mar 2026 09:00:00 GMT", 0),
        ("soon", None),
        ("-5", None),
        ("", None),
    ],
)
def test_retry_after_is_a_number_or_a_date(value, seconds):
    assert retry_after({"retry-after": value}, now=NOW) == seconds


def test_a_retry_waits_longer_each_time_and_never_shorter_than_asked():
    assert [wait_before(n, asked=None, jitter=1) for n in (2, 3, 4)] == [0.5, 1, 2]
    assert wait_before(2, asked=None, jitter=0) == 0.25
    assert wait_before(2, asked=7, jitter=0) == 7


def test_requests_keep_to_a_rate():
    clock = Clock()
    pace = Pace(rate=4, clock=clock)
    assert [pace.reserve() for _ in range(4)] == [0, 0.25, 0.5, 0.75]
    clock.now += 10
    assert pace.reserve() == 0
    free = Pace(rate=0, clock=clock)
    assert [free.reserve() for _ in range(3)] == [0, 0, 0]


def test_a_pause_that_an_engine_asks_for_holds_all_requests():
    clock = Clock()
    pace = Pace(rate=0, clock=clock)
    pace.hold(30)
    assert pace.is_held()
    assert pace.reserve() == 30
    clock.now += 30
    assert not pace.is_held()
    assert not pace.given_up
    pace.hold(3600)
    assert "3,600 s" in pace.given_up


def test_after_failures_in_a_row_nothing_is_sent_and_in_the_end_it_gives_up():
    clock = Clock()
    pace = Pace(rate=0, clock=clock, rule=BreakerRule(failures=3, pause=5, openings=3))
    pace.report(is_trouble=True)
    pace.report(is_trouble=True)
    pace.report(is_trouble=False)
    pace.report(is_trouble=True)
    pace.report(is_trouble=True)
    assert pace.reserve() == 0
    pace.report(is_trouble=True)
    assert pace.reserve() == 5
    pace.report(is_trouble=True)  # was in flight
    clock.now += 5
    pace.report(is_trouble=True)  # the first after the pause
    assert pace.reserve() == 10
    clock.now += 10
    pace.report(is_trouble=False)
    pace.report(is_trouble=True)
    assert pace.reserve() == 0
    assert not pace.given_up
    for _ in range(6):
        clock.now += 100
        pace.report(is_trouble=True)
    assert pace.given_up


def test_times_are_of_a_time_zone_and_a_missed_one_is_not_made_up_for():
    berlin = "Europe/Berlin"
    assert next_time("30 2 * * *", berlin, after=NOW) == datetime(2026, 3, 15, 1, 30, tzinfo=UTC)
    # the clock jumps from 2:00 to 3:00 on the 29th
    before = datetime(2026, 3, 28, 12, tzinfo=UTC)
    assert next_time("30 2 * * *", berlin, after=before) == datetime(2026, 3, 29, 1, 0, tzinfo=UTC)
    assert next_time("* * * * *", "UTC", after=NOW) == datetime(2026, 3, 14, 9, 27, tzinfo=UTC)


@pytest.mark.parametrize(
    ("cron", "zone", "field"),
    [
        ("every day", "UTC", "cron"),
        ("61 * * * *", "UTC", "cron"),
        ("* * * * * *", "UTC", "cron"),
        ("0 0 31 2 *", "UTC", "cron"),
        ("* * * * *", "Berlin", "time_zone"),
        ("* * * * *", "../../etc/passwd", "time_zone"),
        ("* * * * *", "", "time_zone"),
    ],
)
def test_a_schedule_that_can_not_be_read_is_refused(cron, zone, field):
    with pytest.raises(ScheduleRefused) as refused:
        next_time(cron, zone, after=NOW)
    assert refused.value.field == field
