"""What machines ask of the installation, and what its logs say."""

import json
import logging
import re
from datetime import timedelta

import pytest
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone

from annotation.consolidation.services import consolidate
from config import readiness
from config.logs import JsonFormatter, LineFormatter
from evaluation.evaluations.refreshing import refresh_evaluations
from judgments.jobs.worker_beats import beat
from tests.builders import NOW, commit, make_world
from tests.builders_annotation import label, make_campaign
from tests.evaluation.builders import make_run

TOKEN = "a-token-of-the-operator"
PARTS = ("database", "migrations", "durability", "role", "broker", "workers")
SAMPLE = re.compile(r'^(\w+)(?:\{\w+="((?:[^"\\]|\\.)*)"\})? (\S+)$')


def read_metrics(client: Client) -> dict[tuple[str, str], float]:
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    found = [SAMPLE.match(line) for line in lines]
    assert all(found), lines
    return {(m[1].removeprefix("touchstone_"), m[2] or ""): float(m[3]) for m in found if m}


def test_a_process_says_that_it_lives_without_asking_a_database(client: Client) -> None:
    # no mark for the database: pytest would refuse a query
    assert client.get("/healthz").status_code == 200


def test_without_https_and_under_its_own_name_a_probe_is_not_redirected(
    client: Client, settings
) -> None:
    settings.SECURE_SSL_REDIRECT = True
    assert client.get("/healthz").status_code == 200


@pytest.mark.django_db
def test_readiness_names_each_part(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "list_risks", list)  # the suite's server prefers speed
    monkeypatch.setattr(readiness, "list_excess_rights", list)  # and its role makes databases
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["checks"]["workers"] == "no live worker"
    beat(name="refresh@here", at=timezone.now())
    checks = client.get("/readyz").json()["checks"]
    assert checks == dict.fromkeys(PARTS, "ok")
    beat(name="refresh@here", at=timezone.now() - timedelta(minutes=2))
    assert client.get("/readyz").json()["checks"]["workers"] != "ok"


@pytest.mark.django_db
def test_a_database_that_is_away_or_behind_is_not_ready_and_its_error_is_not_told(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> str:
        raise DatabaseError("server at 10.1.2.3 refused")

    monkeypatch.setattr(readiness, "_check_migrations", refuse)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["database"] == "away"
    assert "10.1.2.3" not in answer.text
    monkeypatch.setattr(readiness, "_check_migrations", lambda: "2 to apply")
    assert client.get("/readyz").status_code == 503


@pytest.mark.django_db
def test_a_database_that_may_forget_is_ready_and_named(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "list_risks", lambda: ["fsync", "full_page_writes"])
    answer = client.get("/readyz")
    assert answer.status_code == 200
    said = answer.json()["checks"]["durability"]
    assert said == "saved labels can be lost: fsync, full_page_writes off"


@pytest.mark.django_db
def test_a_role_with_too_many_rights_is_ready_and_named(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "list_excess_rights", lambda: ["owns tables"])
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["checks"]["role"] == "the database role owns tables"


@pytest.mark.django_db
def test_the_metrics_follow_a_label_to_its_evaluation(client: Client, settings) -> None:
    settings.METRICS_TOKEN = TOKEN
    world = make_world(queries=1, documents=2)
    make_run(collection=world.collection, rankings={"q1": ["d1", "d2"]})
    (query,), (one, other) = world.queries, world.documents
    commit(judgment_list=world.judgments, grades={(query, one): 3})
    found = read_metrics(client)
    assert found["due", "evaluations"] == 1
    assert found["oldest_due_seconds", "evaluations"] > 0
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    campaign = make_campaign(world=world, pairs=[(query, other)])
    label(pair=campaign.pairs.get(), username="ben", grade=3)
    beat(name='a "b"\\', at=timezone.now())
    found = read_metrics(client)
    assert found["labels_total", ""] == 1
    assert (found["due", "labels"], found["due", "evaluations"]) == (1, 0)
    assert found["oldest_due_seconds", "labels"] > 0
    assert found["worker_heartbeat_age_seconds", 'a \\"b\\"\\\\'] < 60
    assert found["broker_up", ""] == 1
    assert (found["outbox_messages", "waiting"], found["outbox_messages", "failed"]) == (0, 0)
    assert ("queue_messages", "refresh") in found
    consolidate(list_id=world.judgments.pk, at=timezone.now())
    assert read_metrics(client)["due", "labels"] == 0


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer ", "Bearer wrong", TOKEN, f"Basic {TOKEN}"]
)
@pytest.mark.parametrize("token", ["", TOKEN])
def test_the_metrics_are_for_whoever_has_the_token(
    client: Client, settings, given: str, token: str
) -> None:
    settings.METRICS_TOKEN = token
    answer = client.get("/metrics", headers={"Authorization": given})
    assert answer.status_code == 404


SECRETS = [
    "Not Found: /invitations/CANARY",
    "Not Found: /password/reset/6d9fbbee-7a2c-4a5f-9f2e-0c3d8e0c8d11/CANARY",
    "Not Found: /account/address/CANARY",
    "GET /setup?code=CANARY&x=1",
    "headers {'Authorization': 'Bearer CANARY'}",
    "postgres://touchstone:CANARY@db:5432/touchstone refused",
    'form {"password": "CANARY", "username": "ben"}',
    "duplicate key\nDETAIL:  Failing row contains (7, CANARY, 3).",
]


@pytest.mark.parametrize("formatter", [JsonFormatter(), LineFormatter()])
@pytest.mark.parametrize("said", SECRETS)
def test_no_log_line_tells_a_secret_or_a_row(formatter: logging.Formatter, said: str) -> None:
    try:
        raise ValueError(said)
    except ValueError as error:
        record = logging.LogRecord("x", logging.ERROR, "f", 1, said, None, None)
        record.exc_info = (ValueError, error, error.__traceback__)
    text = formatter.format(record)
    # the traceback shows source lines, in which there is no secret
    assert "CANARY" not in text.replace("raise ValueError(said)", "")


@pytest.mark.django_db
def test_a_request_is_one_json_object_without_its_path(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="touchstone.access"):
        client.get("/invitations/CANARY?secret=CANARY")
        client.post("/login", {"username": "ben", "password": "CANARY"})
    said = [json.loads(JsonFormatter().format(record)) for record in caplog.records]
    seen = {(one["address"], one["status"]) for one in said if one["logger"] == "touchstone.access"}
    assert seen == {("invitation", 404), ("login", 200)}
    assert "CANARY" not in json.dumps(said)
