"""Thinning: the young are all kept, the old are few, and applying it twice changes nothing."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from evaluation.evaluations.thinning_rule import dropped_versions

NOW = datetime(2026, 3, 4, 12, 30, tzinfo=UTC)
Versions = list[tuple[int, datetime]]


def every(step: timedelta, *, count: int) -> Versions:
    """Versions 1, 2, 3 …, the last one made now."""
    return [(number, NOW - step * (count - number)) for number in range(1, count + 1)]


ages = st.lists(st.integers(0, 100 * 86_400), max_size=60).map(
    lambda seconds: [
        (number, NOW - timedelta(seconds=age))
        for number, age in enumerate(sorted(seconds, reverse=True), start=1)
    ]
)


def test_versions_of_the_last_minutes_are_all_kept() -> None:
    assert dropped_versions(every(timedelta(seconds=1), count=300), kept=(), now=NOW) == []


def test_of_an_hour_of_heavy_labelling_one_version_a_minute_stays() -> None:
    versions = every(timedelta(seconds=0.5), count=7200)
    dropped = set(dropped_versions(versions, kept=(), now=NOW))
    left = [(number, made_at) for number, made_at in versions if number not in dropped]
    older = [made_at for _, made_at in left if NOW - made_at >= timedelta(minutes=5)]
    assert len(older) == len({made_at.replace(second=0, microsecond=0) for made_at in older})
    assert 54 <= len(older) <= 56


def test_a_year_of_a_version_an_hour_leaves_about_a_hundred() -> None:
    versions = every(timedelta(hours=1), count=365 * 24)
    left = len(versions) - len(dropped_versions(versions, kept=(), now=NOW))
    assert 95 <= left <= 110


def test_releases_stay_whatever_their_age() -> None:
    versions = every(timedelta(hours=1), count=365 * 24)
    dropped = dropped_versions(versions, kept=(3, 4, 5), now=NOW)
    assert not {3, 4, 5} & set(dropped)
    assert {1, 2, 6} <= set(dropped)


@given(ages)
def test_the_newest_version_is_never_dropped(versions: Versions) -> None:
    dropped = dropped_versions(versions, kept=(), now=NOW)
    assert not versions or versions[-1][0] not in dropped


@given(ages, st.integers(0, 40 * 86_400))
def test_thinning_early_and_often_leaves_what_thinning_once_leaves(
    versions: Versions, seconds: int
) -> None:
    later = NOW + timedelta(seconds=seconds)
    first = set(dropped_versions(versions, kept=(), now=NOW))
    left = [version for version in versions if version[0] not in first]
    twice = first | set(dropped_versions(left, kept=(), now=later))
    assert twice == set(dropped_versions(versions, kept=(), now=later))


@given(ages)
def test_some_version_of_every_week_stays(versions: Versions) -> None:
    dropped = set(dropped_versions(versions, kept=(), now=NOW))
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    weeks = {(made_at - epoch) // timedelta(days=7) for _, made_at in versions}
    kept = {(made_at - epoch) // timedelta(days=7) for n, made_at in versions if n not in dropped}
    assert weeks == kept
