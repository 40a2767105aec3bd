"""Nothing that an annotator is given leads to rankers, ranks, scores or other people."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from typing import Any
from uuid import UUID

import pytest
from django.core.serializers.json import DjangoJSONEncoder

from annotation.adjudication.services import adjudicate
from annotation.campaigns.services import open_campaign
from annotation.consolidation.services import consolidate
from annotation.labelling.leasing import lease_next
from annotation.labelling.own_campaigns import count_progress, list_own_campaigns
from annotation.labelling.own_labels import OwnLabel, list_own_labels
from annotation.labelling.queries import LabelShell, get_label_shell
from annotation.labelling.services import submit_labels
from annotation.labelling.shown_pairs import ShownPair, list_leased_pairs
from annotation.models import Assignment, Campaign, Pair
from annotation.pooling.queries import PoolPlan
from annotation.pooling.services import build_pool
from annotation.training.standing import Standing, get_standing
from judgments.models import User
from judgments.pictures.queries import ShownPicture
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import context_of, label, make_draft, said
from tests.evaluation.builders import make_run

pytestmark = pytest.mark.django_db

CANARIES = ("zebra-ranker", "zebra-run", "cemcanary", "zebra-note", "zebra-reason", "zebra-spring")


@pytest.fixture
def world() -> World:
    world = make_world(queries=3, documents=8)
    User.objects.filter(username="cem").update(name="Cemcanary", email="cemcanary@example.org")
    return world


@pytest.fixture
def campaign(world: World) -> Campaign:
    """Everything that could leak is there: a run's pool, another's labels, a decision, a grade."""
    access = make_access(collection=world.collection)
    rankings = {
        query.qid: [document.docid for document in world.documents] for query in world.queries
    }
    run = make_run(
        collection=world.collection, rankings=rankings, ranker="zebra-ranker", name="zebra-run"
    )
    campaign = make_draft(world=world, pairs=[], depth=8, name="Spring")
    plan = PoolPlan(runs=(run.public_id,), depth=8)
    build_pool(access=access, campaign=campaign, plan=plan, at=NOW)
    campaign = open_campaign(access=access, campaign=campaign, at=NOW)
    pairs = list(campaign.pairs.select_related("campaign__list", "list", "query", "document"))
    for pair in pairs[:6]:
        label(pair=pair, username="cem", grade=4, note="zebra-note", reason="zebra-reason")
    for pair in pairs[:3]:
        label(pair=pair, username="ben", grade=1, note="own note")
    adjudicate(access=access, pair=pairs[0], grade=3, reason="zebra-spring", at=NOW)
    consolidate(list_id=world.judgments.pk, at=NOW)
    return campaign


def values(thing: Any) -> Iterator[object]:
    """Every key and value in a structure of plain values."""
    if isinstance(thing, Mapping):
        for key, value in thing.items():
            yield key
            yield from values(value)
    elif isinstance(thing, list | tuple):
        for one in thing:
            yield from values(one)
    else:
        yield thing


def everything(campaign: Campaign) -> dict[str, Any]:
    """All that Ben can be given: his page, his history, his campaigns, his receipts."""
    context = context_of(campaign, "ben")
    lease_next(context=context, count=60, at=NOW)
    pairs = list_leased_pairs(context)
    history = list_own_labels(context)
    seat = Assignment.objects.get(public_id=pairs[0].assignment)
    receipts = submit_labels(
        context=context,
        submissions=[said(seat=seat, grade=9), said(seat=seat, grade=2), said(seat=seat)],
        at=NOW,
    )
    return {
        "page": asdict(get_label_shell(context)),
        "pairs": [asdict(pair) for pair in pairs],
        "paused": get_standing(context).pause,
        "progress": asdict(count_progress(context)),
        "history": [asdict(one) for one in history],
        "campaigns": [asdict(one) for one in list_own_campaigns(viewer=context.viewer)],
        "receipts": [asdict(one) for one in receipts],
    }


def test_no_canary_reaches_an_annotator(campaign: Campaign) -> None:
    given = everything(campaign)
    assert len(given["pairs"]) > 5
    text = json.dumps(given, cls=DjangoJSONEncoder).casefold()
    assert [canary for canary in CANARIES if canary in text] == []


def test_the_canaries_would_be_found(world: World, campaign: Campaign) -> None:
    from annotation.adjudication.pairs import get_pair_page

    pair = campaign.pairs.order_by("pk")[0]
    detail = get_pair_page(access=make_access(collection=world.collection), pair_id=pair.pk)
    text = str(detail.asked).casefold()
    assert [canary for canary in CANARIES if canary not in text] == []


def test_ids_that_count_are_not_given_away(campaign: Campaign) -> None:
    # numbers that an annotator may have: grades, the revision, their own counts
    allowed = {
        "grade", "code", "revision", "done", "left", "is_open", "is_repeat", "is_training",
        "is_surplus", "guideline_revision", "query_done", "news",
    }  # fmt: skip

    def numbers(thing: Any, name: str) -> Iterator[str]:
        if isinstance(thing, Mapping):
            for key, value in thing.items():
                yield from numbers(value, key)
        elif isinstance(thing, list | tuple):
            for one in thing:
                yield from numbers(one, name)
        elif isinstance(thing, int | float):
            yield name

    assert set(numbers(everything(campaign), "")) <= allowed


def test_ids_are_random_and_the_order_is_not_that_of_the_pool(campaign: Campaign) -> None:
    context = context_of(campaign, "ben")
    lease_next(context=context, count=60, at=NOW)
    pairs = list_leased_pairs(context)
    assert all(pair.assignment.version == 4 for pair in pairs)
    ranks = [
        Pair.objects.get(assignments__public_id=pair.assignment).entries.get().sources[0][2]
        for pair in pairs
    ]
    assert ranks != sorted(ranks)


def test_the_annotators_page_has_these_fields_and_no_others() -> None:
    assert {field.name for field in fields(ShownPair)} == {
        "assignment", "name", "query_name", "query_text", "query_description", "title", "body",
        "url", "fields", "pictures",
        "content_hash", "html", "query_done", "is_training",
    }  # fmt: skip
    assert {field.name for field in fields(ShownPicture)} == {"name", "size", "note"}
    assert {field.name for field in fields(LabelShell)} == {
        "campaign_id", "campaign_name", "guideline", "warning",
    }  # fmt: skip
    assert {field.name for field in fields(Standing)} == {
        "stage", "training", "pause", "takes_more",
    }  # fmt: skip
    assert {field.name for field in fields(OwnLabel)} == {
        "id", "outcome", "grade", "reason", "note", "spans", "guideline_revision", "made_at",
        "pair",
    }  # fmt: skip


def test_what_is_done_and_left_does_not_depend_on_what_others_said(world: World) -> None:
    campaign = make_draft(world=world)
    access = make_access(collection=world.collection)
    campaign = open_campaign(access=access, campaign=campaign, at=NOW)
    before = count_progress(context_of(campaign, "ben"))
    for pair in campaign.pairs.select_related("campaign"):
        label(pair=pair, username="cem", grade=4)
    assert count_progress(context_of(campaign, "ben")) == before


def test_every_id_of_the_page_is_a_seat_of_the_viewer(campaign: Campaign) -> None:
    given = [value for value in values(everything(campaign)) if isinstance(value, UUID)]
    own = Assignment.objects.filter(annotator__username="ben").values_list("public_id", flat=True)
    labels = User.objects.get(username="ben")
    from annotation.models import Label

    known = set(own) | set(Label.objects.filter(annotator=labels).values_list("pk", flat=True))
    strangers = set(given) - known - {campaign.public_id}
    # receipts of labels that were refused carry the id that the client made
    assert len(strangers) == 1
