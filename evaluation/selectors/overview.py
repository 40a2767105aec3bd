"""What a collection still needs so that rankers have numbers: steps of its overview."""

from collections.abc import Iterator

from django.urls import reverse

from evaluation.models import Evaluation, Ranker, Run
from judgments.overview import Step
from judgments.permissions import Access, may_see_rankings, may_upload_runs


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
        text="A system that orders documents: a name for all its runs.",
        is_done=has_ranker,
        url=reverse("ranker-create", args=[slug]) if may_upload else "",
    )
    yield Step(
        order=55,
        title="Upload a run",
        text="A file of what a ranker returned for every query, in TREC format.",
        is_done=runs.exists(),
        url=reverse("run-upload", args=[slug]) if may_upload and has_ranker else "",
    )
    has_values = Evaluation.objects.filter(run__in=runs).exists()
    yield Step(
        order=110,
        title="Look at the leaderboard",
        text="Every run's values, kept current with the labels."
        if has_values
        else "It fills by itself as soon as something is judged.",
        is_done=has_values,
        url=reverse("leaderboards", args=[slug]) if has_values else "",
    )
