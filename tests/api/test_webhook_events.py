"""Every type of event that an endpoint can choose is sent, and verifies with `standardwebhooks`."""

import pytest
from django.utils import timezone
from standardwebhooks import Webhook

from annotation.campaigns.services import close_campaign
from evaluation.canaries.services import create_canary
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.tasks import look_at_snapshots
from judgments.lists.services import release_version
from judgments.messages.sending import send_due
from judgments.models import WebhookDelivery
from judgments.outgoing.rules import read_origins
from judgments.webhooks.events import EVENTS
from judgments.webhooks.queries import Scope
from judgments.webhooks.services import create_endpoint
from tests.api.callers import by_token
from tests.builders import NOW, commit, make_access, make_world
from tests.builders_annotation import make_campaign
from tests.evaluation.builders import make_ranker, make_run
from tests.evaluation.live_rankers.engine import make_live, results, running
from tests.evaluation.live_rankers.test_snapshots import take
from tests.judgments.outgoing.servers import answer, serving
from tests.judgments.webhooks.test_delivering import parts

pytestmark = pytest.mark.django_db
BOTH = {"good": ("d1", "d2"), "bad": ("d2", "d1")}


def test_every_event_is_sent_signed_and_once(settings, tmp_path):
    settings.HOME = tmp_path
    world = make_world(queries=8, documents=3)
    ada = make_access(collection=world.collection)
    dora = make_access(collection=world.collection, username="dora")
    order = ["good"]

    def respond(_):
        return results([(docid, 2.0 - rank) for rank, docid in enumerate(BOTH[order[0]])])

    with (
        running(respond) as engine,
        serving(answer(b"", status="204 No Content")) as server,
    ):
        settings.OUTGOING = read_origins([engine.entry, server.entry])
        _, secret = create_endpoint(
            scope=Scope(ada.user, ada), url=f"{server.url}/hook", events=tuple(EVENTS), at=NOW
        )
        campaign = make_campaign(world=world)
        d1, d2, _ = world.documents
        grades = {(query, d1): 3 for query in world.queries}
        grades |= {(query, d2): 0 for query in world.queries}
        commit(judgment_list=world.judgments, grades=grades)
        release_version(
            access=ada, at=NOW, judgment_list=world.judgments, number=1, name="v", notes=""
        )
        for name, docids in BOTH.items():
            rankings = {query.qid: docids for query in world.queries}
            make_run(collection=world.collection, rankings=rankings, ranker=name, name="r1")
        refresh_evaluations(list_id=world.judgments.pk, at=NOW)
        gate = {"run": "bad", "baseline": "good", "measure": "RR@10", "margin": 0.1}
        by_token("dora").post(
            "/api/v1/collections/books/lists/main/gates", gate, "application/json"
        )
        make_live(world, engine.url)
        create_canary(
            access=dora,
            ranker=make_ranker(collection=world.collection, slug="live"),
            judgment_list=world.judgments,
            measure="RR@10",
            saved_set=None,
            baseline=take(world, dora).run,
            margin=0.1,
            coverage_margin=0.5,
            latency_limit=None,
            in_a_row=1,
            at=NOW,
        )
        for one in ("bad", "good"):
            order[0] = one
            take(world, dora)
            look_at_snapshots()
        close_campaign(access=ada, campaign=campaign, at=NOW)
        while send_due(clock=timezone.now):
            pass
    bodies = {one.message_id: one.body for one in WebhookDelivery.objects.all()}
    said = []
    for request in server.requests:
        headers = parts(request)
        said.append(Webhook(secret).verify(bodies.pop(headers["webhook-id"]), headers))
    assert bodies == {}
    types = [one["type"] for one in said]
    assert set(types) == set(EVENTS)
    assert all(types.count(one) == 1 for one in EVENTS if one != "run.evaluated")
    # the version's evaluation of each run is the first of it on the list
    assert types.count("run.evaluated") == 2
