"""Rankers and runs for programs: in a total order, one part after the other."""

from uuid import UUID

from evaluation.models import Ranker, Run
from evaluation.runs.queries import get_run
from judgments.pages.paging import Part, part_of
from judgments.permissions import Access, NotFound, check_may_see_rankings


def list_rankers(*, access: Access, after: int, limit: int) -> Part[Ranker]:
    """The collection's rankers, in the order they were registered."""
    check_may_see_rankings(access)
    rankers = Ranker.objects.filter(collection=access.collection)
    return part_of(rankers, after, limit, list)


def list_ranker_runs(*, ranker: Ranker, after: int, limit: int) -> Part[Run]:
    """The ranker's runs, withdrawn ones too, in the order they came."""
    runs = Run.objects.filter(ranker=ranker).select_related("ranker").prefetch_related("aliases")
    return part_of(runs, after, limit, list)


def get_run_of(access: Access, ranker_slug: str, public_id: UUID) -> Run:
    """A run of the collection by its id, if it is this ranker's."""
    run = get_run(access=access, public_id=public_id)
    if run.ranker.slug != ranker_slug:
        raise NotFound("run")
    return run
