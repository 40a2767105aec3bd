"""Pictures from other servers, which do it no good."""

import socket
from datetime import timedelta

import pytest
from django.utils import timezone

from judgments.jobs.services import work_jobs
from judgments.models import AuditEntry, Job, Picture, PictureContent
from judgments.outgoing.rules import read_origins
from judgments.pictures import fetching
from judgments.pictures.queries import get_pictures_state
from judgments.pictures.rules import MOST_BYTES
from judgments.pictures.services import fetch_again
from judgments.stopping import process_ends
from tests.builders import make_access, make_collection
from tests.judgments.outgoing.servers import answer, serving
from tests.judgments.outgoing.spellings import HOSTS
from tests.judgments.pictures.drawing import choose, drawn, load, states

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]


@pytest.fixture
def books(monkeypatch):
    monkeypatch.setattr(fetching, "PAUSE", 0)
    return make_collection()


def fetched(books, settings, *replies, path="/1.png"):
    """What becomes of a picture whose server answers like this, and the server."""
    with serving(*replies) as server:
        settings.OUTGOING = read_origins([server.entry])
        load(books, {"d1": {"photo": server.url + path}})
        choose(books, photo="small")
    (state,) = states(books).values()
    return state, server


def test_a_picture_is_fetched_once_by_the_worker_and_never_again(books, settings):
    with serving(answer(drawn(100, 80), "Content-Type: text/html")) as server:
        settings.OUTGOING = read_origins([server.entry])
        load(books, {f"d{n}": {"photo": f"{server.url}/{n % 2}.png"} for n in range(6)})
        assert server.requests == []
        choose(books, photo="small")
        assert sorted(request.splitlines()[0] for request in server.requests) == [
            "GET /0.png HTTP/1.1",
            "GET /1.png HTTP/1.1",
        ]
        assert not any("Cookie" in request or "Referer" in request for request in server.requests)
        load(books, {"d9": {"photo": f"{server.url}/1.png"}})
        work_jobs()
        assert len(server.requests) == 2
    assert set(states(books).values()) == {("stored", "")}
    assert Picture.objects.filter(width=100, height=80).count() == 2


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (answer(b"<svg/>", "Content-Type: image/svg+xml"), ("refused", "not_a_picture")),
        (answer(b"<html>", "Content-Type: image/png"), ("refused", "not_a_picture")),
        (answer(drawn(900, 900)[:500]), ("refused", "broken")),
        (answer(b"", "Location: http://127.0.0.1:9/", status="302 Found"), ("refused", "status")),
        (answer(b"no", status="404 Not Found"), ("refused", "status")),
        (answer(b"x" * (MOST_BYTES + 1)), ("refused", "too_large")),
    ],
)
def test_an_answer_that_is_no_picture_is_refused_at_once(books, settings, reply, expected):
    state, server = fetched(books, settings, reply)
    assert state == expected
    assert len(server.requests) == 1
    assert not PictureContent.objects.exists()


def test_a_server_that_fails_is_asked_again_and_then_given_up(books, settings):
    bad = answer(b"", status="503 Busy")
    state, server = fetched(books, settings, bad)
    assert state == ("refused", "status")
    assert len(server.requests) == 3
    (reason,) = get_pictures_state(access=make_access(collection=books)).reasons
    assert reason.message == "The server answered with status 503."


def test_a_server_that_recovers_gives_its_picture(books, settings):
    replies = [answer(b"", status="503 Busy"), answer(b"", status="429 Slow"), answer(drawn())]
    state, _ = fetched(books, settings, *replies)
    assert state == ("stored", "")


def test_what_failed_before_comes_after_all_others(books, settings, monkeypatch):
    order = []
    settle = fetching._settle

    def note(picture, data):
        order.append(picture.source)
        settle(picture, data)

    monkeypatch.setattr(fetching, "_settle", note)
    with serving(answer(b"", status="500 No")) as bad, serving(answer(drawn())) as good:
        settings.OUTGOING = read_origins([bad.entry, good.entry])
        documents = {f"d{n:02}": {"photo": f"{bad.url}/{n}"} for n in range(4)}
        load(books, documents | {"d99": {"photo": f"{good.url}/1"}})
        choose(books, photo="small")
    assert order.index(f"{good.url}/1") == 4


def test_without_a_list_of_hosts_nothing_is_asked(books):
    load(books, {"d1": {"photo": "https://images.example.org/1.png"}})
    choose(books, photo="small")
    assert list(states(books).values()) == [("refused", "off")]


def test_no_spelling_of_an_address_within_is_asked(books, settings, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    settings.OUTGOING = read_origins(["https://images.example.org"])
    load(books, {f"d{n}": {"photo": f"http://{host}/1.png"} for n, host in enumerate(HOSTS)})
    choose(books, photo="small")
    assert len(states(books)) == len(HOSTS)
    assert set(states(books).values()) == {("refused", "refused")}


def test_a_host_whose_name_leads_within_is_not_asked(books, settings, monkeypatch):
    address = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.7", 443))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [address])
    settings.OUTGOING = read_origins(["https://images.example.org"])
    load(books, {"d1": {"photo": "https://images.example.org/1.png"}})
    choose(books, photo="small")
    assert list(states(books).values()) == [("refused", "refused")]


def test_refused_pictures_are_fetched_again_when_a_lead_asks(books, settings):
    with serving(answer(drawn())) as server:
        load(books, {"d1": {"photo": f"{server.url}/1"}, "d2": {"photo": "x.png"}})
        choose(books, photo="small")
        settings.OUTGOING = read_origins([server.entry])
        access = make_access(collection=books)
        assert fetch_again(access=access, at=timezone.now()) == 1
        work_jobs()
    assert states(books) == {f"{server.url}/1": ("stored", ""), "x.png": ("missing", "")}
    assert AuditEntry.objects.filter(action="pictures.fetched_again").count() == 1
    name = Picture.objects.get(state="stored").public_id
    assert fetch_again(access=access, at=timezone.now()) == 0
    assert Picture.objects.get(state="stored").public_id == name


def test_a_slice_ends_after_a_while_and_another_job_goes_on(books, settings, monkeypatch):
    monkeypatch.setattr(fetching, "SLICE", 0.0)
    with serving(answer(drawn())) as server:
        settings.OUTGOING = read_origins([server.entry])
        load(books, {f"d{n}": {"photo": f"{server.url}/{n}"} for n in range(9)})
        choose(books, photo="small")
    assert set(states(books).values()) == {("stored", "")}
    assert Job.objects.filter(kind="fetch_pictures", state="done").count() == 3
    state = get_pictures_state(access=make_access(collection=books))
    assert (state.stored, state.waiting, state.is_running) == (9, 0, False)


def test_a_process_that_was_told_to_end_leaves_the_rest_to_another(books, settings, request):
    request.addfinalizer(process_ends.clear)

    def end_and_answer(connection):
        process_ends.set()
        answer(drawn())(connection)

    with serving(end_and_answer, answer(drawn())) as server:
        settings.OUTGOING = read_origins([server.entry])
        load(books, {f"d{n}": {"photo": f"{server.url}/{n}"} for n in range(9)})
        choose(books, photo="small")
        found = [state for state, _ in states(books).values()]
        assert (found.count("stored"), found.count("waiting")) == (4, 5)
        process_ends.clear()  # as in another process
        work_jobs()
    assert set(states(books).values()) == {("stored", "")}


def test_a_worker_that_is_killed_loses_no_picture(books, settings, monkeypatch):
    def die(*_):
        raise SystemExit

    settle = fetching._settle
    monkeypatch.setattr(fetching, "_settle", die)
    with serving(answer(drawn())) as server:
        settings.OUTGOING = read_origins([server.entry])
        load(books, {f"d{n}": {"photo": f"{server.url}/{n}"} for n in range(3)})
        with pytest.raises(SystemExit):
            choose(books, photo="small")
        monkeypatch.setattr(fetching, "_settle", settle)
        # as after half a minute of silence
        Job.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=1))
        work_jobs()
    assert set(states(books).values()) == {("stored", "")}


def test_a_picture_that_ended_its_worker_three_times_is_given_up(books, settings):
    settings.OUTGOING = read_origins(["http://127.0.0.1:9=127.0.0.0/8"])
    choose(books, photo="small")
    load(books, {"d1": {"photo": "http://127.0.0.1:9/1"}})
    Picture.objects.update(attempts=3)
    work_jobs()
    assert list(states(books).values()) == [("refused", "given_up")]
