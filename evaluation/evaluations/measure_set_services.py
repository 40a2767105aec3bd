"""Which measures a list keeps current."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from evaluation.evaluations.measure_sets import (
    definition_of,
    digest_of,
    get_leaderboard,
    grades_of,
    is_of_this_arithmetic,
    measures_of,
)
from evaluation.models import Leaderboard, MeasureSet
from judgments.audit import services as audit
from judgments.lists.services import check_own_list
from judgments.models import JudgmentList
from judgments.permissions import Access, check_may_lead
from judgments.waking import wake
from touchstone.errors import DomainError
from touchstone.measures.defaults import DEFAULT_MEASURES
from touchstone.measures.definition import Measure
from touchstone.measures.scoring import check_can_be_stored, check_fit, fits
from touchstone.statistics.named_tests import TESTS

MOST_MEASURES = 40


class LeaderboardRefused(DomainError):
    """The measures can't be kept current like this."""


def choose_measures(
    *, access: Access, judgment_list: JudgmentList, measures: Sequence[Measure], at: datetime
) -> Leaderboard:
    """Keep these measures current on the list, in this order; for leads.

    Every run is then re-evaluated at the head; evaluations of other sets are kept.
    Raises MeasureError for a measure that can't be kept on this list, LeaderboardRefused for
    none or too many.
    """
    check_may_lead(access)
    check_own_list(access, judgment_list)
    if not 1 <= len(set(measures)) == len(measures) <= MOST_MEASURES:
        raise LeaderboardRefused(
            "measures_count", f"A leaderboard needs 1 to {MOST_MEASURES} different measures."
        )
    check_fit(measures, grades_of(judgment_list))
    with transaction.atomic():
        leaderboard = ensure_leaderboard(judgment_list=judgment_list)
        before = leaderboard.measure_set.measures
        leaderboard.measure_set = ensure_measure_set(measures=measures)
        leaderboard.save(update_fields=["measure_set"])
        audit.record_by(
            access,
            at,
            "leaderboard.measures_chosen",
            str(judgment_list),
            before=before,
            after=leaderboard.measure_set.measures,
        )
        wake("evaluation.refresh", judgment_list.pk)
    return leaderboard


def choose_test(
    *, access: Access, judgment_list: JudgmentList, test: str, at: datetime
) -> Leaderboard:
    """Compare the list's runs by this test from now on, unless an address asks for another.

    For leads: it is chosen before one looks, not by what comes out. Raises LeaderboardRefused for
    what is no test.
    """
    check_may_lead(access)
    check_own_list(access, judgment_list)
    if test not in TESTS:
        raise LeaderboardRefused("no_test", f"Unknown test {test[:60]}.")
    with transaction.atomic():
        leaderboard = ensure_leaderboard(judgment_list=judgment_list)
        before = leaderboard.test
        leaderboard.test = test
        leaderboard.save(update_fields=["test"])
        audit.record(
            collection=access.collection,
            actor=access.user,
            at=at,
            action="leaderboard.test_chosen",
            subject=str(judgment_list),
            before={"test": before},
            after={"test": test},
        )
    return leaderboard


def ensure_leaderboard(*, judgment_list: JudgmentList) -> Leaderboard:
    """The list's leaderboard; made with the default measures where there is none.

    A set that this code computes otherwise than when it was stored is replaced by one of today's
    arithmetic, so that a leaderboard never mixes two.
    """
    result = get_leaderboard(judgment_list=judgment_list)
    if result is not None and is_of_this_arithmetic(result.measure_set):
        return result
    if result is None:
        grades = grades_of(judgment_list)
        fitting = [measure for measure in DEFAULT_MEASURES if fits(measure, grades)]
        Leaderboard.objects.bulk_create(
            [Leaderboard(list=judgment_list, measure_set=ensure_measure_set(measures=fitting))],
            ignore_conflicts=True,
        )
    else:
        # two names that were two measures can be one by now
        own = tuple(dict.fromkeys(measures_of(result.measure_set)))
        measure_set = ensure_measure_set(measures=own)
        Leaderboard.objects.filter(pk=result.pk, measure_set=result.measure_set_id).update(
            measure_set=measure_set
        )
    judgment_list.refresh_from_db(fields=["leaderboard"])
    return judgment_list.leaderboard


def ensure_measure_set(*, measures: Sequence[Measure]) -> MeasureSet:
    """The stored set of these measures in this order, with the arithmetic of today.

    Raises MeasureError for one that can't be kept by differences.
    """
    for measure in measures:
        check_can_be_stored(measure)
    definition = definition_of(measures)
    digest = digest_of(definition)
    result = MeasureSet.objects.filter(digest=digest).first()
    if result is not None:
        return result
    MeasureSet.objects.bulk_create(
        [MeasureSet(digest=digest, measures=definition)], ignore_conflicts=True
    )
    return MeasureSet.objects.get(digest=digest)
