"""The next pairs: all that the campaign has, in the annotator's order, without reading them all."""

import io
from operator import attrgetter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.imports.files import read_given_labels
from annotation.imports.services import import_labels
from annotation.labelling.leasing import lease_next, release_leases
from annotation.models import Assignment, Campaign, CampaignAnnotator
from annotation.seats.streams import list_free_seats, order_of
from tests.builders import NOW, make_access, make_world
from tests.builders_annotation import context_of, held, label, make_campaign
from touchstone.scales import Scale

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]
both_orders = pytest.mark.parametrize("order", [Campaign.Order.BY_QUERY, Campaign.Order.SHUFFLED])


@both_orders
def test_next_goes_on_after_labels_were_imported_into_an_open_campaign(order: str) -> None:
    """Their pairs belong to no pool."""
    world = make_world(queries=4, documents=10)
    pairs = [(query, document) for query in world.queries[:3] for document in world.documents]
    campaign = make_campaign(world=world, pairs=pairs, order=order)
    context, met = context_of(campaign, "ben"), set[int]()
    lease_next(context=context, count=5, at=NOW)
    table = "annotator,query_id,doc_id,grade\n" + "".join(
        f"cem,q4,{document.docid},1\n" for document in world.documents
    )
    scale = Scale.from_json(world.judgments.scale)
    import_labels(
        access=make_access(collection=world.collection),
        judgment_list=world.judgments,
        given=read_given_labels(io.BytesIO(table.encode()), name="cem.csv", scale=scale, at=NOW),
        campaign_name=campaign.name,
        names={},
        create=False,
        seed=1,
        at=NOW,
    )
    while lease_next(context=context, count=20, at=NOW):
        for seat in held(campaign=campaign, username="ben"):
            met.add(seat.pair_id)
            label(pair=seat.pair, username="ben", grade=1)
    assert met == set(campaign.pairs.values_list("pk", flat=True))
    assert len(met) == 40


@both_orders
def test_the_cost_of_the_next_pairs_does_not_grow_with_what_is_labelled(order: str) -> None:
    world = make_world(queries=40, documents=10)
    campaign = make_campaign(world=world, overlap=1, order=order)
    context, counts, rows = context_of(campaign, "ben"), [], []
    for _ in range(8):
        with CaptureQueriesContext(connection) as queries:
            rows.append(len(list_free_seats(context, wanted=5)))
        counts.append(len(queries))
        lease_next(context=context, count=40, at=NOW)
        own_qs = Assignment.objects.filter(annotator=context.viewer, state="leased")
        own_qs.update(state="done", leased_until=None)
    assert max(counts) <= 5
    assert max(rows) < 200


@both_orders
def test_what_was_given_back_behind_somebody_comes_last(order: str) -> None:
    world = make_world(queries=6, documents=10)
    campaign = make_campaign(world=world, overlap=1, order=order)
    context = context_of(campaign, "ben")
    order_of_pairs = order_of(context)
    lease_next(context=context, count=20, at=NOW)
    first = held(campaign=campaign, username="ben")
    place = CampaignAnnotator.objects.get(pk=context.annotator_id)
    last_chunk = order_of_pairs.sort_chunks(
        order_of_pairs.chunk(pair=seat.pair_id, query=seat.pair.query_id) for seat in first
    )[-1]
    place.chunk = last_chunk
    place.save(update_fields=["chunk"])
    release_leases(context=context)
    seats = list_free_seats(context, wanted=1_000)
    keys = [
        order_of_pairs.key(pair=seat.pair, query=seat.query, document=seat.document)
        for seat in seats
    ]
    assert len(keys) == 60
    here = order_of_pairs.chunk_key(last_chunk)
    ahead = [key for key in keys if key[:2] >= here]
    assert keys == sorted(ahead) + sorted(set(keys) - set(ahead))


def test_a_query_is_gone_through_after_the_page_was_closed_and_opened() -> None:
    """Seats are handed out ahead, so later queries were met by the server before this one ended."""
    world = make_world(queries=6, documents=8)
    campaign = make_campaign(world=world, overlap=1, order=Campaign.Order.BY_QUERY)
    context = context_of(campaign, "ben")

    def in_turn() -> list[Assignment]:
        return sorted(held(campaign=campaign, username="ben"), key=attrgetter("place"))

    lease_next(context=context, count=16, at=NOW)
    for seat in in_turn()[:9]:
        label(pair=seat.pair, username="ben", grade=1)
    begun = in_turn()[0].pair.query_id
    lease_next(context=context, count=30, at=NOW)  # hands out of what follows
    release_leases(context=context)
    lease_next(context=context, count=16, at=NOW)
    queries = [seat.pair.query_id for seat in in_turn()]
    assert queries[:7] == [begun] * 7
    assert begun not in queries[7:]
