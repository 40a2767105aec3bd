"""The pages of live rankers, and REST."""

import pytest
from django.urls import reverse

from evaluation.models import LiveRevision, LiveSource, Snapshot
from judgments.outgoing.rules import read_origins
from tests.builders import make_world
from tests.evaluation.browsing import signed_in, text_of
from tests.evaluation.builders import make_ranker
from tests.evaluation.live_rankers.engine import make_live, results, running, work

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(settings, tmp_path):
    settings.HOME = tmp_path
    world = make_world()
    make_ranker(collection=world.collection, slug="live")
    return world


def url(name, *more):
    return reverse(name, args=["books", "live", *more])


def filled(engine, **given):
    """The form of a GET with `?q=`."""
    return {
        "method": "GET",
        "url": f"{engine.url}/?q={{{{text}}}}",
        "rows": "results",
        "id": "id",
        "score": "score",
        "title": "title",
        "depth": 10,
        "at_once": 2,
        "rate": 0,
        "timeout": 5,
        "attempts": 1,
        "min_answered": 100,
    } | given


def test_a_ranker_goes_live_is_tried_and_asked(world, settings):
    client = signed_in(world.dora)
    assert "Choose a search engine" in text_of(client.get(url("live")))
    offered = client.get(url("live-edit"), {"preset": "solr"})
    assert "response.docs" in offered.content.decode()
    with running(lambda _: results([("d2", 1.5), ("d1", 0.5)], title="<b>T</b>")) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        tried = client.post(url("live-edit"), filled(engine) | {"try": "1", "qid": "q2"})
        page = text_of(tried)
        assert "2 results" in page
        assert f"GET {engine.url}/?q=query%20number%202" in page
        assert '"id": "d2"' in page
        assert "<b>T</b>" not in tried.content.decode()
        assert not LiveSource.objects.exists()
        assert client.post(url("live-edit"), filled(engine)).status_code == 302
        started = client.post(url("snapshot-start"))
        assert "Queries asked" in text_of(client.get(started["Location"]))
        work()
        done = text_of(client.get(started["Location"]))
    assert "answered 3" in done
    assert "Open the run" in done
    assert "3 of 3" in text_of(client.get(url("live")))


def test_the_secret_is_never_on_a_page_also_where_the_engine_repeats_it(world, settings):
    client = signed_in(world.dora)
    with running(lambda _: {"error": "bad key sesame-8Q2x"}) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        form = filled(engine, secret_header="X-Key", secret="sesame-8Q2x")
        tried = client.post(url("live-edit"), form | {"try": "1"}).content.decode()
        assert "bad key ••••••" in tried
        assert "X-Key: ••••••" in tried
        client.post(url("live-edit"), form)
        assert engine.headers[0]["x-key"] == "sesame-8Q2x"
    pages = [tried, *(client.get(url(name)).content.decode() for name in ("live", "live-edit"))]
    assert not any("sesame" in page for page in pages)
    assert "stored for" in pages[1]
    client.post(url("live-secret-remove"))
    assert "removed: enter it again" in text_of(client.get(url("live")))


def test_every_mistake_is_shown_at_its_field(world, settings):
    client = signed_in(world.dora)
    with running(lambda _: results([])) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        for wrong, said in (
            ({"url": "http://{{text}}.example/"}, "scheme, host or port"),
            ({"url": "http://127.0.0.2/?q={{text}}"}, "not on the list of allowed hosts"),
            ({"url": f"{engine.url}/"}, "Each query would get the same request"),
            ({"body": "{"}, "Not JSON"),
            ({"body": '{"a": NaN}'}, "Not JSON"),
            ({"body": "{}"}, "A GET has no body"),
            ({"headers": "Authorization: Bearer x"}, "looks like a secret"),
            ({"headers": "Host: evil"}, "set by Touchstone"),
            ({"headers": "x"}, "no colon"),
            ({"document_url": "a["}, "Not JMESPath"),
            ({"secret_header": "X-Key"}, "Enter the secret"),
            ({"secret": "x"}, "Enter the header"),
            ({"depth": "0"}, "greater than or equal to 1"),
            ({"try": "1", "qid": "nope"}, "no query 'nope'"),
        ):
            answer = client.post(url("live-edit"), filled(engine, **wrong))
            assert said in text_of(answer), said
    assert not LiveRevision.objects.exists()


def test_without_a_list_the_page_says_that_nothing_is_asked_and_who_can_change_that(
    world, settings
):
    settings.OUTGOING = read_origins(["http://127.0.0.1:9=127.0.0.0/8"])
    make_live(world, "http://127.0.0.1:9")
    settings.OUTGOING = ()
    page = text_of(signed_in(world.dora).get(url("live")))
    assert "makes no requests to other servers" in page
    assert "Take a snapshot" not in page


def test_an_outage_is_told_query_by_query(world, settings):
    client = signed_in(world.dora)
    with running(lambda _: (500, {}, b"out of memory")) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        make_live(world, engine.url)
        started = client.post(url("snapshot-start"))
        work()
    page = text_of(client.get(started["Location"]))
    assert "No run was made." in page
    assert "error response 3" in page
    assert "status 500" in page
    reader = world.collection.memberships.get(user=world.dora)
    reader.role = "annotator"
    reader.save()
    assert client.get(started["Location"]).status_code == 404


def test_a_schedule_is_saved_or_refused_at_its_field(world, settings):
    client = signed_in(world.dora)
    settings.OUTGOING = read_origins(["http://127.0.0.1:9=127.0.0.0/8"])
    make_live(world, "http://127.0.0.1:9")
    wrong = client.post(url("live-schedule"), {"cron": "0 3 * * *", "time_zone": "Mars"})
    assert (wrong.status_code, "Unknown time zone" in text_of(wrong)) == (400, True)
    client.post(url("live-schedule"), {"cron": "0 3 * * *", "time_zone": "Europe/Berlin"})
    assert "Next snapshot" in text_of(client.get(url("live")))


def test_rest_configures_asks_and_tells_every_outcome(world, settings):
    client = signed_in(world.dora)
    empty = world.queries[1].text

    def respond(text):
        return results([] if text == empty else [("d1", 1.0)])

    def send(method, name, body, *more):
        call = getattr(client, method)
        return call(url(name, *more), body, content_type="application/json")

    with running(respond) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        configuration = {
            "method": "GET",
            "url": f"{engine.url}/?q={{{{text}}}}",
            "mapping": {"rows": "results", "id": "id", "score": "score"},
        }
        assert client.get(url("api-live")).status_code == 404
        made = send("put", "api-live", {"configuration": configuration})
        assert (made.status_code, made.json()["revision"]) == (200, 1)
        again = send("put", "api-live", {"configuration": made.json()["configuration"]})
        assert again.json()["revision"] == 1
        wrong = send("put", "api-live", {"configuration": configuration | {"depth": 0}})
        assert (wrong.status_code, "depth" in str(wrong.json())) == (400, True)
        started = send("post", "api-snapshots", {"name": "nightly"})
        assert started.status_code == 202
        assert send("post", "api-snapshots", {}).status_code == 422
        work()
    found = client.get(started["Location"]).json()
    assert (found["state"], found["asked"], found["answered"]) == ("done", 3, 3)
    assert {one["outcome"]: one["count"] for one in found["outcomes"]} == {"ok": 2, "empty": 1}
    assert found["run"] == str(Snapshot.objects.get().run.public_id)
    answers = client.get(url("api-snapshot-answers", found["id"])).json()["results"]
    assert {one["query_id"]: (one["outcome"], one["rows"]) for one in answers} == {
        "q1": ("ok", 1), "q2": ("empty", 0), "q3": ("ok", 1),
    }  # fmt: skip
    assert client.get(url("api-snapshots")).json()["results"][0]["name"] == "nightly"
