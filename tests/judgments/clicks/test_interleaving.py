"""Interleaving logs become outcomes with their test; no user and no page is stored."""

import json

import numpy as np
import pytest
from django.core.files.base import ContentFile

from judgments.clicks.interleaving import get_interleaving, list_interleavings
from judgments.jobs.services import work_jobs
from judgments.models import InterleavingExperiment, Job
from judgments.permissions import NotFound
from tests.builders import make_access, make_world
from touchstone.clicks.interleaving_outcome import outcome

pytestmark = pytest.mark.django_db


def click(page: int, user: str, team: str | None) -> dict[str, object]:
    own = {} if team is None else {"interleaving": {"team": team}}
    return {
        "action_name": "click",
        "query_id": f"p{page}",
        "client_id": user,
        "event_attributes": {"object": {"object_id": f"d{page}"}, **own},
    }


# 20 users with three pages each, of which the new ranker wins two
EVENTS = [
    click(3 * user + page, f"client-{user}", "old" if page == 0 and user % 2 else "new")
    for user in range(20)
    for page in range(3)
] + [click(99, "somebody", None)]


def body(events: list[dict[str, object]]) -> bytes:
    return "\n".join(map(json.dumps, events)).encode()


@pytest.fixture(autouse=True)
def uploads(settings, tmp_path):
    settings.STORAGES = settings.STORAGES | {
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path},
        }
    }


def upload(client, events=EVENTS, name="October"):
    sent = {"name": name, "file": ContentFile(body(events), name="log.ndjson")}
    sent |= {"impressions": "impression", "clicks": "click"}
    response = client.post("/c/books/clicks/interleaving/upload", sent)
    assert response.status_code == 302
    work_jobs()
    return Job.objects.order_by("-pk")[0]


def test_a_lead_uploads_a_log_and_the_outcome_is_the_librarys(client):
    world = make_world()
    client.force_login(world.ada)
    job = upload(client)
    assert job.state == "done", job.result
    access = make_access(collection=world.collection, username="dora")
    found = get_interleaving(access=access, number=1)
    assert (found.first, found.second) == ("new", "old")
    assert (found.wins, found.losses, found.ties, found.users) == (50, 10, 0, 20)
    assert (found.pages, found.without_credit) == (60, 1)
    assert found.delta.value == pytest.approx(50 / 60 - 0.5)
    signs = [-1.0 if page == 0 and user % 2 else 1.0 for user in range(20) for page in range(3)]
    users = [user for user in range(20) for _ in range(3)]
    expected = outcome(np.array(signs), np.array(users))
    assert (found.delta.low, found.delta.high) == (expected.low, expected.high)
    assert found.p_value == expected.p_value < 1e-6
    assert found.winner == "new"
    page = client.get("/c/books/clicks/interleaving/1").content.decode()
    assert "Users prefer new." in page
    assert "October" in client.get("/c/books/clicks").content.decode()
    rest = client.get("/api/v1/collections/books/interleaving/1").json()
    assert rest["delta"]["low"] == expected.low
    stored = json.dumps(list(InterleavingExperiment.objects.values()), default=str)
    assert "client-" not in stored
    with pytest.raises(NotFound):
        list_interleavings(access=make_access(collection=world.collection, username="ben"))


def test_the_same_log_and_one_without_two_rankers_are_refused(client):
    world = make_world()
    client.force_login(world.ada)
    upload(client)
    assert "already imported as “October”" in upload(client).result["message"]
    one = upload(client, [click(1, "c", "new")])
    assert "Two rankers are compared; the log has new." in one.result["message"]
    assert InterleavingExperiment.objects.count() == 1


def test_no_difference_is_said_to_be_none(client):
    world = make_world()
    client.force_login(world.ada)
    even = [click(page, f"c{page}", ("old", "new")[page % 2]) for page in range(30)]
    upload(client, even)
    page = client.get("/c/books/clicks/interleaving/1").content.decode()
    assert "No significant difference between new and old." in page
