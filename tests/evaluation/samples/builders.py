"""A judged sample and runs of it. Keyword-only, fixed seeds."""

from dataclasses import dataclass

import numpy as np

from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import Run
from judgments.models import Query, SampledQuery, SamplePlan
from judgments.samples.designs import Design
from tests.builders import NOW, World, commit, make_world
from tests.evaluation.builders import make_run
from tests.judgments.samples.builders import make_frame, make_sample, usual_traffic


@dataclass(frozen=True)
class Sampled:
    """A world whose sample is judged, but for its last `unjudged` queries."""

    world: World
    plan: SamplePlan
    runs: tuple[Run, Run]

    @property
    def members(self) -> list[SampledQuery]:
        rows = SampledQuery.objects.filter(plan=self.plan).select_related("query")
        return list(rows.order_by("query"))


def make_sampled(
    *,
    world: World | None = None,
    design: Design | None = None,
    unjudged: int = 0,
    unanswered: int = 0,
    is_flat: bool = False,
) -> Sampled:
    """Two runs over every query of the collection; grades of five documents of each drawn query.

    is_flat: queries are searched for nearly equally often. unanswered: the last drawn queries, for
    which no run has a document, and which are not judged.
    """
    world = world or make_world(queries=6)
    traffic = usual_traffic(world)
    if is_flat:
        traffic = {query: 100 + place for place, query in enumerate(traffic)}
    frame = make_frame(world=world, traffic=traffic)
    plan = make_sample(world=world, frame=frame, design=design)
    rng = np.random.default_rng(11)
    docids = [document.docid for document in world.documents]
    every = list(Query.objects.filter(collection=world.collection).order_by("pk"))
    drawn = [query for query in every if SampledQuery.objects.filter(plan=plan, query=query)]
    answered = [query for query in every if query not in drawn[len(drawn) - unanswered :]]
    runs = [
        make_run(
            collection=world.collection,
            rankings={query.qid: rng.permutation(docids).tolist() for query in answered},
            ranker=name,
        )
        for name in ("bm25", "dense")
    ]
    judged = drawn[: len(drawn) - unjudged - unanswered]
    grades = {
        (query, document): int(rng.integers(0, 5))
        for query in judged
        for document in world.documents
    }
    commit(judgment_list=world.judgments, grades=grades)
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    first, second = runs
    return Sampled(world, plan, (first, second))
