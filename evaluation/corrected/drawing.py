"""Drawing the queries that people judge, among those that a machine judged on a list."""

from collections.abc import Collection, Sequence
from datetime import datetime

import numpy as np
from django.utils import timezone

from judgments.collections.queries import map_exact_texts
from judgments.jobs.kinds import Work
from judgments.jobs.services import submit_job
from judgments.lists.services import check_own_list
from judgments.models import Job, JudgmentList, Query, SamplePlan, TrafficFrame, User
from judgments.permissions import Access, NotFound, check_may_lead
from judgments.samples.designs import MOST, QUERIES, Design
from judgments.samples.services import SampleRefused, draw_sample
from judgments.traffic.services import store_frame
from judgments.versions.machine_sources import MachineSource, get_machine_grades, list_sources
from touchstone.sampling.designs import check_seed
from touchstone.sampling.frames import digest_of, text_digests
from touchstone.sampling.traffic import TrafficBlock
from touchstone.statistics.corrected import FEWEST_JUDGED

KIND = "draw_for_people"


def request_draw(
    *, access: Access, judgment_list: JudgmentList, key: str, n: int, seed: int, at: datetime
) -> Job:
    """Queue the drawing of n queries with equal chances; for leads. key: of the machine judge.

    Raises SampleRefused for fewer than 15 or more queries than the machine judged.
    """
    check_may_lead(access)
    check_own_list(access, judgment_list)
    check_seed(seed)
    find_source(judgment_list, key)
    count = len(list_population(judgment_list, key))
    if not FEWEST_JUDGED <= n <= min(count, MOST):
        raise SampleRefused(
            "sample_size", f"Draw from {FEWEST_JUDGED} to {min(count, MOST):,} queries."
        )
    return submit_job(
        access=access,
        kind=KIND,
        file=None,
        params={"list": judgment_list.slug, "source": key, "n": n, "seed": str(seed)},
        at=at,
    )


def find_source(judgment_list: JudgmentList, key: str) -> MachineSource:
    """A machine judge with labels on the list. Raises NotFound."""
    source = next((one for one in list_sources(judgment_list.pk) if one.key == key), None)
    if source is None:
        raise NotFound("machine judge")
    return source


def list_population(judgment_list: JudgmentList, key: str) -> list[int]:
    """The queries (pk), ascending, of which the machine labelled a document of the list."""
    return sorted({query for query, _ in get_machine_grades(judgment_list.pk, key)})


def draw_for_people(
    *,
    judgment_list: JudgmentList,
    query_ids: Collection[int],
    n: int,
    seed: int,
    by: User | None,
    at: datetime,
    frame_name: str,
    name: str = "",
    work: Work | None = None,
) -> SamplePlan:
    """Draw n of these queries of the list. They are a frame of their own, each with one search.

    work: the job that this ends. Raises SampleRefused where queries share a text: they are known
    by their texts.
    """
    collection = judgment_list.collection
    by_pk = dict(Query.objects.filter(pk__in=list(query_ids)).values_list("pk", "text"))
    if map_exact_texts(collection=collection, texts=by_pk.values()) != {
        text: pk for pk, text in by_pk.items()
    } or any("\n" in text for text in by_pk.values()):
        raise SampleRefused(
            "texts_shared",
            "Some of these queries share their text with another one, have none, or have one of "
            "several lines, so a sample can't name them.",
        )
    texts = sorted(text.encode() for text in by_pk.values())
    return draw_sample(
        frame=_get_frame(judgment_list, frame_name, texts, by, at),
        judgment_list=judgment_list,
        name=name or f"For people, {n:,} queries",
        design=Design(by_size=False, cuts=(), n=n, allocation=QUERIES),
        seed=seed,
        by=by,
        at=at,
        work=work,
    )


def _get_frame(
    judgment_list: JudgmentList,
    name: str,
    texts: Sequence[bytes],
    by: User | None,
    at: datetime,
) -> TrafficFrame:
    """The frame of these queries; the one that is there, if they were drawn from before."""
    ones = np.ones(len(texts), np.int64)
    digest = digest_of(text_digests(texts), [""], np.zeros(len(texts), np.uint16), ones)
    known = TrafficFrame.objects.filter(collection=judgment_list.collection_id, digest=digest)
    return known.first() or store_frame(
        collection=judgment_list.collection,
        name=name,
        blocks=[TrafficBlock(range(1, len(texts) + 1), list(texts), ones, [])],
        file_name="queries",
        by=by,
        at=at,
        of_list=judgment_list,
    )


def work_on_draw(work: Work) -> None:
    """The job kind `draw_for_people`. params: list (slug), source, n, seed."""
    params, author = work.params, work.created_by_id
    judgment_list = JudgmentList.objects.select_related("collection").get(
        collection=work.collection_id, slug=params["list"]
    )
    key = str(params["source"])
    draw_for_people(
        judgment_list=judgment_list,
        frame_name=f"{judgment_list.name}: judged by {find_source(judgment_list, key).name}",
        query_ids=list_population(judgment_list, key),
        n=int(params["n"]),
        seed=int(params["seed"]),
        by=None if author is None else User.objects.get(pk=author),
        at=timezone.now(),
        work=work,
    )
