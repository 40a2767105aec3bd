"""A list of which a machine judged everything, and people random queries. Fixed seeds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.guidelines.services import get_newest_revision
from annotation.models import (
    Campaign,
    JudgeAttempt,
    JudgeCampaign,
    JudgeRevision,
    MachineJudge,
    MachineLabel,
)
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import Run
from judgments.models import Document, Query, SampledQuery
from judgments.samples.designs import QUERIES, Design
from tests.builders import NOW, World, commit, make_world
from tests.builders_annotation import make_campaign
from tests.evaluation.builders import make_run
from tests.judgments.samples.builders import make_frame, make_sample

Grades = Mapping[tuple[Query, Document], int]


@dataclass(frozen=True)
class Judged:
    """plan: None where no sample was drawn. grades: what people would say of every pair.

    revision: of the machine judge.
    """

    world: World
    campaign: Campaign
    revision: JudgeRevision
    plan: Any
    grades: Grades
    runs: tuple[Run, ...]

    @property
    def members(self) -> list[int]:
        """The drawn queries, ascending."""
        drawn_qs = SampledQuery.objects.filter(plan=self.plan).order_by("query")
        return list(drawn_qs.values_list("query", flat=True))


def equal(n: int, cuts: tuple[float, ...] = ()) -> Design:
    """A design with equal chances in each stratum."""
    return Design(by_size=False, cuts=cuts, n=n, allocation=QUERIES)


def make_judged(
    *,
    queries: int = 40,
    documents: int = 5,
    runs: int = 2,
    design: Design | None = None,
    more: int = 0,
    unjudged: int = 0,
    without_plan: bool = False,
    labelled: bool = True,
) -> Judged:
    """People judged the drawn queries but for the last `unjudged`, the machine all pairs.

    design: how people's queries were drawn from a log of all queries, and `more` that are not in
    the collection. without_plan: people judged the first 20 queries, and no sample says so.
    labelled: False where the machine has labelled nothing yet.
    """
    world = make_world(queries=queries, documents=documents)
    traffic = {query.text: 1_000 // (place + 1) + 1 for place, query in enumerate(world.queries)}
    traffic |= {f"unknown {place}": 1 for place in range(more)}
    frame = make_frame(world=world, traffic=traffic)
    plan = None
    if not without_plan:
        plan = make_sample(world=world, frame=frame, design=design or equal(20))
    rng = np.random.default_rng(3)
    every = list(Query.objects.filter(collection=world.collection).order_by("pk"))
    grades = {
        (query, document): int(rng.integers(0, 5))
        for query in every
        for document in world.documents
    }
    docids = [document.docid for document in world.documents]
    names = ("bm25", "dense", *(f"fused-{place}" for place in range(runs - 2)))
    made = tuple(
        make_run(
            collection=world.collection,
            rankings={query.qid: rng.permutation(docids).tolist() for query in every},
            ranker=name,
        )
        for name in names
    )
    campaign = make_campaign(world=world, pairs=list(grades))
    result = Judged(world, campaign, make_revision(world, campaign), plan, grades, made)
    members = [query.pk for query in every[:20]] if without_plan else result.members
    drawn = members[: len(members) - unjudged]
    commit(
        judgment_list=world.judgments,
        grades={pair: grade for pair, grade in grades.items() if pair[0].pk in drawn},
    )
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    if labelled:
        label(result, machine_grades(grades))
    return result


def make_revision(world: World, campaign: Campaign, *, number: int = 1) -> JudgeRevision:
    """A machine judge's revision that worked on a campaign."""
    judge, _ = MachineJudge.objects.get_or_create(
        collection=world.collection, name="Model", defaults={"created_at": NOW}
    )
    revision = JudgeRevision.objects.create(
        judge=judge,
        number=number,
        guideline_revision=get_newest_revision(campaign.guideline),
        configuration={},
        instructions="",
        created_at=NOW,
    )
    JudgeCampaign.objects.create(
        judge=judge,
        revision=revision,
        campaign=campaign,
        pairs=campaign.pairs.count(),
        last_pair=campaign.pairs.latest("pk").pk,
        state=JudgeCampaign.State.DONE,
        created_at=NOW,
        ended_at=NOW,
    )
    return revision


def machine_grades(grades: Grades) -> Grades:
    """What a machine says that grades a step too high, and often one off."""
    rng = np.random.default_rng(4)
    return {pair: min(4, max(0, one + int(rng.integers(0, 3)))) for pair, one in grades.items()}


def label(judged: Judged, grades: Grades, revision: JudgeRevision | None = None) -> None:
    """Labels of the machine."""
    own = revision or judged.revision
    started = JudgeCampaign.objects.get(revision=own)
    attempt = JudgeAttempt.objects.create(
        campaign=started,
        query=next(iter(grades))[0],
        document=next(iter(grades))[1],
        digest="0" * 64,
        content_hash="",
        outcome="labelled",
        grade=0,
        is_last=False,
        seconds=0.1,
        ended_at=NOW,
    )
    before = MachineLabel.objects.count()
    MachineLabel.objects.bulk_create(
        MachineLabel(
            revision=own,
            query=query,
            document=document,
            digest=f"{before + place:064}",
            content_hash="",
            grade=grade,
            attempt=attempt,
            created_at=NOW,
        )
        for place, ((query, document), grade) in enumerate(grades.items())
    )
