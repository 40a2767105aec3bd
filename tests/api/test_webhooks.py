"""Webhooks over REST, and the gates that CI jobs report to them."""

from judgments.models import WebhookDelivery
from judgments.outgoing.rules import read_origins
from tests.api.callers import BOOKS, MAIN, by_token, is_problem
from tests.builders import commit
from tests.evaluation.builders import make_run

HOOK = {"url": "https://hooks.example.org/a", "events": ["gate.failed"]}


def test_a_lead_makes_changes_and_deletes_one(world, settings, tmp_path):
    settings.HOME, settings.OUTGOING = tmp_path, read_origins(["https://hooks.example.org"])
    ada, hooks = by_token("ada"), f"{BOOKS}webhooks/"
    made = ada.post(hooks, HOOK, "application/json").json()
    assert made["secret"].startswith("whsec_")
    (listed,) = ada.get(hooks).json()["results"]
    assert (listed["url"], "secret" in listed) == (HOOK["url"], False)
    one = f"{hooks}{made['id']}"
    changed = ada.put(one, HOOK | {"is_paused": True}, "application/json").json()
    assert changed["paused_at"] is not None
    assert ada.post(f"{one}/secret").json()["secret"] != made["secret"]
    elsewhere = HOOK | {"url": "https://other.example.org/"}
    is_problem(ada.put(one, elsewhere, "application/json"), 400, "invalid")
    assert ada.delete(one).status_code == 204
    assert ada.get(one).status_code == 404


def test_a_failed_gate_is_published_once_by_what_the_server_computes(world, settings, tmp_path):
    settings.HOME, settings.OUTGOING = tmp_path, read_origins(["https://hooks.example.org"])
    by_token("ada").post(f"{BOOKS}webhooks/", HOOK, "application/json")
    d1 = world.documents[0]
    commit(judgment_list=world.judgments, grades=dict.fromkeys(((q, d1) for q in world.queries), 3))
    good = {query.qid: ("d1", "d2") for query in world.queries}
    make_run(collection=world.collection, rankings=good, ranker="good", name="r1")
    bad = {query.qid: ("d2", "d1") for query in world.queries}
    make_run(collection=world.collection, rankings=bad, ranker="bad", name="r1")
    dora, gates = by_token("dora"), f"{MAIN}gates"
    asked = {"run": "bad", "baseline": "good", "measure": "RR@10", "margin": 0.1}
    for _ in range(2):
        assert dora.post(gates, asked, "application/json").json()["verdict"] == "worse"
    better = asked | {"run": "good", "baseline": "bad"}
    assert dora.post(gates, better, "application/json").json()["verdict"] == "better"
    (sent,) = WebhookDelivery.objects.all()
    assert sent.event == "gate.failed"
    assert '"run": "bad/r1"' in sent.body
