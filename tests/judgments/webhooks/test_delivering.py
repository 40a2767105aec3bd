"""Events reach the endpoints that want them, signed; failures are tried again, or not."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from standardwebhooks import Webhook

from judgments.lists.services import release_version
from judgments.messages.sending import send_due
from judgments.models import AuditEntry, Notice, OutboxMessage, WebhookEndpoint
from judgments.outgoing.rules import read_origins
from judgments.webhooks import services
from judgments.webhooks.delivering import BACK_OFF
from judgments.webhooks.queries import Scope, get_webhook_page
from judgments.webhooks.services import WebhookRefused, create_endpoint, publish_event
from tests.builders import NOW, World, commit, make_access, make_collection, make_world
from tests.judgments.outgoing.servers import Server, answer, serving

pytestmark = pytest.mark.django_db
OK = answer(b"", status="204 No Content")
DATA = {"list": "main"}


@pytest.fixture
def world(settings: Any, tmp_path: Any) -> World:
    settings.HOME = tmp_path
    return make_world(queries=1, documents=1)


@pytest.fixture
def scope(world: World) -> Scope:
    access = make_access(collection=world.collection)
    return Scope(access.user, access)


def endpoint_at(
    server: Server, scope: Scope, settings: Any, events: tuple[str, ...] = ("release.created",)
) -> tuple[WebhookEndpoint, str]:
    settings.OUTGOING = read_origins([server.entry])
    return create_endpoint(scope=scope, url=f"{server.url}/hook", events=events, at=NOW)


def publish(world: World, key: str = "release:1") -> None:
    publish_event(event="release.created", key=key, collection=world.collection, data=DATA, at=NOW)


def send(at: datetime = NOW) -> int:
    return send_due(clock=lambda: at)


def log(endpoint: WebhookEndpoint) -> list[tuple[str, list[int | None]]]:
    page = get_webhook_page(endpoint=endpoint, page="", now=NOW)
    return [(row.state, [one.status for one in row.attempts]) for row in page.deliveries]


def parts(request: str) -> dict[str, str]:
    """The headers of a request, by lower-case name."""
    lines = (line.split(": ", 1) for line in request.split("\r\n")[1:] if ": " in line)
    return {name.lower(): value for name, value in lines}


def test_a_release_is_sent_once_and_its_signature_verifies(world, scope, settings):
    commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 2})
    with serving(OK) as server:
        endpoint, secret = endpoint_at(server, scope, settings)
        release_version(
            access=scope.access, at=NOW, judgment_list=world.judgments, number=1, name="spring"
        )
        assert (send(), send()) == (1, 0)
    (request,) = server.requests
    (delivery,) = endpoint.deliveries.all()
    assert request.startswith("POST /hook ")
    said = Webhook(secret).verify(delivery.body, parts(request))
    assert said["type"] == "release.created"
    assert said["data"].items() >= {"collection": "books", "list": "main", "version": 1}.items()
    assert parts(request)["webhook-id"] == delivery.message_id
    assert log(endpoint) == [("delivered", [204])]
    assert secret not in json.dumps(list(AuditEntry.objects.values_list("action", flat=True)))


def test_only_endpoints_that_want_an_event_of_their_collection_get_it(world, scope, settings):
    other = Scope(scope.user, make_access(collection=make_collection(slug="films")))
    with serving(OK) as server:
        own, _ = endpoint_at(server, scope, settings)
        unasked, _ = endpoint_at(server, scope, settings, events=("campaign.closed",))
        elsewhere, _ = endpoint_at(server, other, settings)
        everywhere, _ = endpoint_at(server, Scope(scope.user, None), settings)
        publish(world)
        publish(world)
    counts = [one.deliveries.count() for one in (own, unasked, elsewhere, everywhere)]
    assert counts == [1, 0, 0, 1]


def test_failures_are_retried_for_days_by_the_standards_schedule_and_then_given_up(
    world, scope, settings
):
    with serving(answer(b"", status="500 Oops")) as server:
        endpoint, _ = endpoint_at(server, scope, settings)
        publish(world)
        at = NOW
        for pause in BACK_OFF:
            assert send(at) == 1
            waits = OutboxMessage.objects.get().due_at - at
            assert pause <= waits <= 1.1 * pause
            at += waits
        assert send(at) == 1
        assert send(at + timedelta(days=9)) == 0
    assert log(endpoint) == [("failed", [500] * 10)]
    assert len({parts(one)["webhook-id"] for one in server.requests}) == 1


def test_retry_after_is_obeyed(world, scope, settings):
    busy = answer(b"", "Retry-After: 3600", status="429 Busy")
    with serving(busy, OK) as server:
        endpoint, _ = endpoint_at(server, scope, settings)
        publish(world)
        send()
        assert send(NOW + timedelta(minutes=59)) == 0
        assert send(NOW + timedelta(minutes=61)) == 1
    assert log(endpoint) == [("delivered", [429, 204])]


def test_gone_pauses_the_webhook_and_tells_its_leads_once(world, scope, settings):
    with serving(answer(b"", status="410 Gone")) as server:
        endpoint, _ = endpoint_at(server, scope, settings)
        publish(world, "release:1")
        publish(world, "release:2")
        send()
        publish(world, "release:3")
    assert len(server.requests) == 1
    assert log(endpoint) == [("failed", []), ("failed", [410])]
    assert Notice.objects.get().kind == "webhook"
    endpoint.refresh_from_db()
    with pytest.raises(WebhookRefused, match="paused"):
        services.send_test(scope=scope, endpoint=endpoint, at=NOW)
    services.resume_endpoint(scope=scope, endpoint=endpoint, at=NOW)
    endpoint.refresh_from_db()
    assert endpoint.paused_at is None


def test_a_redirect_is_not_followed_and_a_server_off_the_list_is_not_asked(world, scope, settings):
    with serving(OK) as target:
        moved = answer(b"", f"Location: {target.url}/", status="302 Found")
        with serving(moved) as server:
            endpoint, _ = endpoint_at(server, scope, settings)
            settings.OUTGOING = read_origins([server.entry, target.entry])
            publish(world)
            send()
            assert log(endpoint) == [("waiting", [302])]
            settings.OUTGOING = read_origins([target.entry])
            send(NOW + timedelta(minutes=1))
    assert (len(server.requests), target.requests) == (1, [])
    assert log(endpoint) == [("failed", [302, None])]


def test_after_a_rotation_both_secrets_sign_for_a_day(world, scope, settings):
    now = timezone.now()
    with serving(OK) as server:
        endpoint, old = endpoint_at(server, scope, settings)
        new = services.rotate_secret(scope=scope, endpoint=endpoint, at=now)
        publish(world, "release:1")
        send(now)
        endpoint.old_secret_ends_at = now - timedelta(seconds=1)
        endpoint.save(update_fields=["old_secret_ends_at"])
        publish(world, "release:2")
        send(now)
    counts = [parts(one)["webhook-signature"].count("v1,") for one in server.requests]
    assert counts == [2, 1]
    body = endpoint.deliveries.first().body
    for secret in (old, new):
        assert Webhook(secret).verify(body, parts(server.requests[0]))


def test_a_replay_has_the_same_id_and_body(world, scope, settings):
    with serving(answer(b"", status="400 No"), OK) as server:
        endpoint, _ = endpoint_at(server, scope, settings)
        publish(world)
        send()
        (delivery,) = endpoint.deliveries.all()
        services.replay(endpoint=endpoint, delivery=delivery, at=NOW)
        send()
        assert send(NOW + timedelta(days=1)) == 0  # what waited was replaced
    ids = {parts(one)["webhook-id"] for one in server.requests}
    assert (len(server.requests), len(ids)) == (2, 1)
    assert log(endpoint) == [("delivered", [400, 204])]


def test_a_url_off_the_list_is_refused_when_it_is_entered(scope, settings):
    settings.OUTGOING = read_origins(["https://hooks.example.org"])
    with pytest.raises(WebhookRefused, match="not on the list"):
        create_endpoint(
            scope=scope, url="http://169.254.169.254/", events=["release.created"], at=NOW
        )


def test_deleting_erases_the_secrets(world, scope, settings):
    with serving(OK) as server:
        endpoint, _ = endpoint_at(server, scope, settings)
        publish(world)
        services.delete_endpoint(scope=scope, endpoint=endpoint, at=NOW)
        send()
    endpoint.secret.refresh_from_db()
    assert (endpoint.secret.ciphertext, server.requests) == ("", [])
