"""What a collection's overview says of rankers and their numbers."""

from collections.abc import Iterator
from typing import Final

from django.urls import reverse

from evaluation.evaluations.queries import RunSums, kept_measures, list_run_sums
from evaluation.models import Evaluation, Ranker, Run
from judgments.collections.overview_parts import Line, Standing, Step
from judgments.lists.queries import HEAD, get_version
from judgments.models import JudgmentList
from judgments.permissions import Access, may_see_rankings, may_upload_runs
from touchstone.measures.asking import recognise

MOST: Final = 3  # lists at a glance, and runs of each


def list_steps(access: Access) -> Iterator[Step]:
    """A ranker, a run of it, and the leaderboard; for those who may see rankings."""
    if not may_see_rankings(access):
        return
    collection, slug = access.collection, access.collection.slug
    may_upload = may_upload_runs(access)
    has_ranker = Ranker.objects.filter(collection=collection).exists()
    runs = Run.objects.filter(ranker__collection=collection, withdrawn_at__isnull=True)
    yield Step(
        order=50,
        title="Register a ranker",
        text="A system that ranks documents; its outputs are runs.",
        is_done=has_ranker,
        url=reverse("ranker-create", args=[slug]) if may_upload else "",
    )
    yield Step(
        order=55,
        title="Upload a run",
        text="A TREC file of a ranker’s results for every query.",
        is_done=runs.exists(),
        url=reverse("run-upload", args=[slug]) if may_upload and has_ranker else "",
    )
    has_values = Evaluation.objects.filter(run__in=runs).exists()
    yield Step(
        order=110,
        title="View the leaderboard",
        text="Every run’s values, updated as labels come in."
        if has_values
        else "Values appear as soon as the list has grades.",
        is_done=has_values,
        url=reverse("leaderboards", args=[slug]) if has_values else "",
    )


def list_standings(access: Access) -> Iterator[Standing]:
    """The first rankers, by their newest runs, on each of the newest lists; for those who may see
    rankings."""
    if not may_see_rankings(access):
        return
    lists_qs = JudgmentList.objects.filter(
        collection=access.collection, head__gt=0, archived_at=None
    )
    for order, judgment_list in enumerate(lists_qs.order_by("-pk")[:MOST], start=MOST):
        measure = kept_measures(judgment_list)[0]
        version = get_version(judgment_list=judgment_list, name=HEAD)
        result = list_run_sums(
            judgment_list=judgment_list, version=version, measures=[measure], only_newest=True
        )
        yield Standing(
            order=order,
            kind="Leaderboard",
            title=judgment_list.name,
            url=reverse("leaderboard", args=[access.collection.slug, judgment_list.slug]),
            note=f"{recognise(measure).canonical}, version {version.number:,}",
            why_url=reverse(
                "version", args=[access.collection.slug, judgment_list.slug, version.number]
            )
            + "#changes",
            lines=tuple(_first(result, access.collection.slug)),
        )


def _first(found: list[RunSums], slug: str) -> Iterator[Line]:
    """The runs with the highest values."""
    values = [(own.averages[0].value, own.run) for own in found if own.averages]
    known = [(value, run) for value, run in values if value is not None]
    for value, run in sorted(known, key=lambda one: (-one[0], one[1].pk))[:MOST]:
        yield Line(
            text=run.ranker.name,
            figure=f"{value:.4f}",
            url=reverse("run", args=[slug, run.public_id]),
        )
