"""Whose mean is corrected: the queries that a machine judged, and people's among them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.samples.drawn import Drawn, get_drawn, list_zero_results
from judgments.collections.queries import map_exact_texts
from judgments.models import SamplePlan, TrafficFrame
from judgments.samples.designs import strata_of
from judgments.traffic.packing import unpack_searches, unpack_texts
from judgments.versions.machine_grades import get_judged_by_people
from judgments.versions.machine_sources import Pair
from judgments.versions.queries import Judged
from touchstone.statistics.corrected import FEWEST_JUDGED, CorrectionRefusedError, too_few
from touchstone.statistics.three_means import PeoplesQueries, Target

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Population:
    """What a correction rests on.

    query_ids: (M,), all that the machine judged. people: (n,), the drawn ones among them, ascending
    (pk), as `drawn` has them. empty: those of all that rankers return nothing for. by_people,
    by_machine: their judgments.
    """

    query_ids: Ids
    people: Ids
    empty: Ids
    drawn: PeoplesQueries
    by_people: Judged
    by_machine: Judged


def get_population(plan: SamplePlan, version: int, grades: Mapping[Pair, int]) -> Population:
    """The population of a sample by what people judged at a version. plan: with its list and frame.

    grades: the machine's. A log of which the machine judged every query is a fixed list; of another
    one, its judged samples by the same design stand for it.
    Raises CorrectionRefusedError, with the reason, where there is no correction.
    """
    drawn = get_drawn(plan)
    members = drawn.query_ids.tolist()
    by_people = get_judged_by_people(list_id=plan.list_id, version=version, query_ids=members)
    empty = set(list_zero_results(plan, version))
    by_machine = {query for query, _ in grades}
    _check_judged(plan, by_people, grades, empty)
    _check_machine(members, by_machine | empty)
    frame = _read_frame(plan.frame, plan, by_machine | empty)
    target: Target = "population"
    if frame is not None:
        every, strata = frame
        target = "list"
    elif plan.design["by_size"]:
        raise CorrectionRefusedError(
            "the sample was drawn in proportion to searches, and the machine did not judge every "
            f"query of “{plan.frame.name}”: only then can such a sample correct it"
        )
    else:
        every, strata, more = _find_sample(drawn, version, by_machine)
        empty |= more
    order = np.argsort(every)
    every, strata = every[order], strata[order]
    counts = drawn.sample.counts
    return Population(
        query_ids=every,
        people=drawn.query_ids,
        empty=np.array(sorted(empty), np.int64),
        drawn=PeoplesQueries(
            target=target,
            rows=np.searchsorted(every, drawn.query_ids),
            strata=strata,
            shares=counts / counts.sum(),
            pi=drawn.sample.pi if plan.design["by_size"] else None,
        ),
        by_people=by_people,
        by_machine=Judged.of(grades),
    )


def _check_judged(
    plan: SamplePlan, by_people: Judged, grades: Mapping[Pair, int], empty: Collection[int]
) -> None:
    """Whether people judged every drawn query, and of each every document that the machine did."""
    documents: dict[int, set[int]] = {}
    for query, document in by_people.pairs():
        documents.setdefault(query, set()).add(document)
    partly = {
        query for query, document in grades if document not in documents.get(query, {document})
    }
    whole = len(documents.keys() - partly)
    left = plan.size - whole - len(set(empty) - documents.keys())
    if left:
        raise CorrectionRefusedError(
            f"people judged {whole:,} of the {plan.size:,} drawn queries completely, that is every "
            "document that the machine judged; those that are judged first are no random part"
        )
    if plan.size < FEWEST_JUDGED:
        raise CorrectionRefusedError(too_few(plan.size))


def _check_machine(members: Collection[int], judged: Collection[int]) -> None:
    missing = len(set(members) - set(judged))
    if missing:
        raise CorrectionRefusedError(
            f"the machine has labelled no document of {missing:,} of the {len(members):,} drawn "
            "queries"
        )


def _read_frame(
    frame: TrafficFrame, plan: SamplePlan, judged: Collection[int]
) -> tuple[Ids, Ids] | None:
    """All queries of a log and their strata, where the machine judged all of them; else None."""
    if frame.queries > len(judged) or not frame.blocks.exists():
        return None
    texts: list[str] = []
    searches: list[int] = []
    blocks = frame.blocks.order_by("position").values_list("texts", "searches")
    for packed, counts in blocks.iterator(chunk_size=1):
        texts += [text.decode() for text in unpack_texts(bytes(packed))]
        searches += unpack_searches(bytes(counts)).tolist()
    known = map_exact_texts(collection=plan.list.collection, texts=texts)
    query_ids = [known.get(text) for text in texts]
    if not set(query_ids) <= set(judged):
        return None
    strata = strata_of(plan.design).codes(np.array(searches, np.int64))
    return np.array(query_ids, np.int64), strata.astype(np.int64)


def _find_sample(
    drawn: Drawn, version: int, by_machine: Collection[int]
) -> tuple[Ids, Ids, set[int]]:
    """The drawn queries with those of the largest other sample like it that the machine judged.

    Like it: of the same log, with equal chances in the same strata.
    """
    plan = drawn.plan
    others_qs = SamplePlan.objects.filter(list=plan.list_id, frame=plan.frame_id).exclude(
        pk=plan.pk
    )
    for other in others_qs.select_related("list", "frame").order_by("-size", "-pk"):
        if not _has_same_strata(other, plan):
            continue
        own, empty = get_drawn(other), set(list_zero_results(other, version))
        if not set(own.query_ids.tolist()) <= {*by_machine, *empty}:
            continue
        is_new = ~np.isin(own.query_ids, drawn.query_ids)
        if np.count_nonzero(is_new) > 1:
            every = np.concatenate([drawn.query_ids, own.query_ids[is_new]])
            strata = np.concatenate([drawn.sample.strata, own.sample.strata[is_new]])
            return every, strata.astype(np.int64), empty
    raise CorrectionRefusedError(
        f"the machine judged neither every query of “{plan.frame.name}” nor a second sample of it "
        "by the same design, so it adds nothing to what people judged"
    )


def _has_same_strata(one: SamplePlan, other: SamplePlan) -> bool:
    """Whether both were drawn with equal chances from the same strata of one log."""
    ends = [[row["least"] for row in plan.design["strata"]] for plan in (one, other)]
    return not one.design["by_size"] and ends[0] == ends[1]
