"""Gold in bulk: from a file, or from the grades of another list."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np
from django.db import transaction

from annotation.consolidation.services import lock_list
from annotation.gold.files import GivenAnswer, GoldAnswer, GoldFile
from annotation.gold.services import Answer, GoldRefused, mark_answers
from annotation.models import Campaign, GoldItem, Pair
from annotation.permissions import check_may_run, check_may_watch
from annotation.pooling.services import make_pairs
from judgments.collections.naming import unless_taken
from judgments.collections.queries import map_documents, map_queries
from judgments.models import Judgment, JudgmentList
from judgments.permissions import Access, NotFound
from judgments.versions.queries import at_head
from touchstone.files.errors import Problems
from touchstone.scales import Scale

MOST_DRAWN: Final = 10_000
Key = tuple[int, int]  # the pks of a query and a document


@dataclass(frozen=True)
class GoldAdded:
    """What a file added. pairs: new in the campaign. unchanged: already gold with these grades."""

    gold: int
    pairs: int
    unchanged: int


def list_gold(*, access: Access, campaign: Campaign) -> list[GoldAnswer]:
    """The campaign's gold in use, in the order in which it was marked; for leads and admins."""
    check_may_watch(access, campaign)
    rows = GoldItem.objects.filter(campaign=campaign, retired_at=None).order_by("pk")
    return [
        GoldAnswer(*row)
        for row in rows.values_list(
            "pair__query__qid", "pair__document__docid", "low", "high", "reason"
        )
    ]


def add_gold_file(
    *, access: Access, campaign: Campaign, given: GoldFile, adds_pairs: bool, at: datetime
) -> GoldAdded:
    """Make gold of a file's pairs, all or nothing; for leads.

    adds_pairs: pairs that the campaign does not have are added, in queries that it has; without
    it they are refused. A pair that is gold with the same grades stays as it is.
    Raises FileRefused with lines, GoldRefused.
    """
    check_may_run(access, campaign)
    taken = GoldRefused("pairs_open_elsewhere", "Some of these pairs are open in another campaign.")
    with unless_taken(taken):
        lock_list(campaign.list_id, commits=False)
        campaign = Campaign.objects.select_for_update(no_key=True, of=("self",)).get(pk=campaign.pk)
        pairs = {
            (query, document): pk
            for query, document, pk in campaign.pairs.order_by().values_list(
                "query_id", "document_id", "pk"
            )
        }
        in_use = {
            pair: (low, high)
            for pair, low, high in GoldItem.objects.filter(
                campaign=campaign, retired_at=None
            ).values_list("pair_id", "low", "high")
        }
        keys = _map_keys(campaign, given, pairs, in_use, adds_pairs=adds_pairs)
        missing = sorted(set(keys.values()) - pairs.keys())
        if missing:
            make_pairs(campaign=campaign, keys=missing)
            rows = campaign.pairs.order_by().values_list("query_id", "document_id", "pk")
            pairs = {(query, document): pk for query, document, pk in rows}
        answers = [
            Answer(pairs[keys[one.line]], one.low, one.high, one.reason)
            for one in given.answers
            if pairs[keys[one.line]] not in in_use
        ]
        if answers:
            mark_answers(
                access=access,
                campaign=campaign,
                answers=answers,
                at=at,
                source={"file": given.name},
            )
    return GoldAdded(len(answers), len(missing), len(given.answers) - len(answers))


def draw_gold_of_list(
    *,
    access: Access,
    campaign: Campaign,
    source: JudgmentList,
    count: int,
    seed: int,
    at: datetime,
) -> list[GoldItem]:
    """Make gold of pairs that another list has graded, drawn at random, at most `count`; for leads.

    The list's newest version counts; pairs that are gold already are left out.
    Raises GoldRefused for another scale, and where no pair is left.
    """
    check_may_run(access, campaign)
    if source.collection_id != access.collection.pk or source.pk == campaign.list_id:
        raise NotFound("list")
    if not 1 <= count <= MOST_DRAWN:
        raise GoldRefused("count_invalid", f"The number of pairs must be 1 to {MOST_DRAWN:,}.")
    if Scale.from_json(source.scale).codes != Scale.from_json(campaign.list.scale).codes:
        raise GoldRefused("scale_differs", f"{source.name} uses a different scale.")
    with transaction.atomic():
        lock_list(campaign.list_id, commits=False)
        gold_qs = GoldItem.objects.filter(campaign=campaign, retired_at=None)
        gold = set(gold_qs.values_list("pair_id", flat=True))
        pairs_qs = Pair.objects.filter(campaign=campaign).order_by("pk")
        grades = _list_grades(source)
        known = [
            (pk, grades[query, document])
            for pk, query, document in pairs_qs.values_list("pk", "query_id", "document_id")
            if (query, document) in grades and pk not in gold
        ]
        if not known:
            raise GoldRefused(
                "nothing_to_take",
                f"{source.name} has no grade for a pair of this campaign that is not gold yet.",
            )
        rng = np.random.default_rng(seed)
        drawn = rng.choice(len(known), size=min(count, len(known)), replace=False)
        number = source.versions.latest("number").number
        reason = f"Grade in {source.name}, version {number}."
        chosen = [known[index] for index in sorted(drawn.tolist())]
        answers = [Answer(pk, grade, grade, reason) for pk, grade in chosen]
        said = {"list": source.name}
        return mark_answers(access=access, campaign=campaign, answers=answers, at=at, source=said)


def _list_grades(source: JudgmentList) -> dict[Key, int]:
    current_qs = Judgment.objects.filter(at_head(), list=source).order_by()
    rows = current_qs.values_list("query_id", "document_id", "grade")
    return {(query, document): grade for query, document, grade in rows}


def _map_keys(
    campaign: Campaign,
    given: GoldFile,
    pairs: Mapping[Key, int],
    in_use: Mapping[int, tuple[int, int]],
    *,
    adds_pairs: bool,
) -> dict[int, Key]:
    """The query and document of each line. Raises FileRefused for lines that can't be gold."""
    collection = campaign.list.collection
    queries = map_queries(collection=collection, qids={one.query_id for one in given.answers})
    documents = map_documents(collection=collection, docids={one.doc_id for one in given.answers})
    in_campaign = {query for query, _ in pairs}
    problems, keys = Problems(given.name), {}
    for one in given.answers:
        query, document = queries.get(one.query_id), documents.get(one.doc_id)
        wrong = None
        if query is None:
            wrong = ("unknown-query", f"the collection has no query {one.query_id}.")
        elif document is None:
            wrong = ("unknown-document", f"the collection has no document {one.doc_id}.")
        elif query not in in_campaign:
            wrong = ("query-not-in-campaign", f"the campaign has no pair of query {one.query_id}.")
        elif (query, document) not in pairs and not adds_pairs:
            wrong = (
                "pair-not-in-campaign",
                f"the campaign has no pair {one.query_id} {one.doc_id}.",
            )
        else:
            keys[one.line] = (query, document)
            wrong = _clash(one, in_use.get(pairs.get((query, document), 0)))
        if wrong:
            problems.add(one.line, *wrong)
    problems.raise_if_any()
    return keys


def _clash(one: GivenAnswer, standing: tuple[int, int] | None) -> tuple[str, str] | None:
    if standing is None or standing == (one.low, one.high):
        return None
    low, high = standing
    grades = f"grade {low}" if low == high else f"grades {low} to {high}"
    return ("gold-already", f"the pair is already gold, with {grades}; retire it first.")
