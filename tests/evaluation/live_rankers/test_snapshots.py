"""Snapshots: every query's outcome is stored as it comes; a run follows, or a reason why not."""

import random
import re
import time

import pytest
from django.db import DatabaseError

from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.live_rankers import taking
from evaluation.live_rankers.configuration import ConfigurationRefused
from evaluation.live_rankers.due import is_snapshot_due
from evaluation.live_rankers.presets import PRESETS
from evaluation.live_rankers.services import (
    LiveRefused,
    remove_secret,
    set_schedule,
    start_due_snapshots,
    start_snapshot,
    stop_snapshot,
)
from evaluation.models import Evaluation, LiveRevision, LiveSource, Ranking, Run, Snapshot
from judgments.models import AuditEntry, Document, Job, Query
from judgments.outgoing import slices
from judgments.outgoing.pacing import BreakerRule, Pace
from judgments.outgoing.rules import read_origins
from judgments.permissions import NotFound
from judgments.stopping import process_ends
from tests.builders import NOW, commit, make_access, make_world
from tests.evaluation.builders import make_ranker, make_run
from tests.evaluation.live_rankers.engine import make_live, results, running, work
from tests.judgments.outgoing.redis_servers import resp3, send, serving_redis
from tests.judgments.outgoing.servers import answer, serving
from tests.judgments.outgoing.spellings import HOSTS

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]


@pytest.fixture
def world(settings, tmp_path):
    settings.HOME = tmp_path
    return make_world(queries=12, documents=20)


@pytest.fixture
def dora(world):
    return make_access(collection=world.collection, username="dora")


def take(world, dora, **given):
    """Start a snapshot of the ranker `live` and let a worker do it."""
    ranker = make_ranker(collection=world.collection, slug="live")
    snapshot = start_snapshot(access=dora, ranker=ranker, at=NOW, **given)
    work()
    snapshot.refresh_from_db()
    return snapshot


def outcomes(snapshot):
    return dict(snapshot.answers.values_list("query__qid", "outcome"))


def texts(world):
    return {query.text: query.qid for query in world.queries}


def test_a_snapshot_equals_the_same_ranking_uploaded_as_a_file_to_the_last_bit(
    world, dora, settings
):
    rng = random.Random(7)
    ids = [document.docid for document in world.documents]
    rankings = {
        query.text: [(docid, rng.choice([0.1, 0.1 + 2**-54, rng.gauss(0, 1e-8)])) for docid in ids]
        for query in world.queries
    }
    for query in world.queries:
        commit(judgment_list=world.judgments, grades={(query, world.documents[3]): 3})
    with running(lambda text: results(rankings[text])) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        make_live(world, engine.url)
        snapshot = take(world, dora)
    assert (snapshot.state, snapshot.problem) == ("done", "")
    assert sorted(engine.asked) == sorted(rankings)
    lines = "".join(
        f"{query.qid} Q0 {docid} {rank} {score!r} x\n"
        for query in world.queries
        for rank, (docid, score) in enumerate(rankings[query.text], start=1)
    )
    uploaded = make_run(collection=world.collection, text=lines, ranker="uploaded")
    assert snapshot.run.sha256 == uploaded.sha256

    def stored(run):
        rows = Ranking.objects.filter(run=run).values_list("query", "documents", "scores", "order")
        return {query: tuple(map(bytes, packed)) for query, *packed in rows}

    assert stored(snapshot.run) == stored(uploaded)
    refresh_evaluations(list_id=world.judgments.pk, at=NOW)
    sums = {bytes(one.sums) for one in Evaluation.objects.all()}
    assert (Evaluation.objects.count(), len(sums)) == (2, 1)


def test_results_without_scores_are_in_the_engines_order(world, dora, settings):
    with running(lambda _: {"results": [{"id": "d9"}, {"id": "d2"}, {"id": "d5"}]}) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        revision = make_live(world, engine.url)
        mapping = {**revision.configuration["mapping"], "score": ""}
        LiveRevision.objects.create(
            source=revision.source,
            number=2,
            configuration={**revision.configuration, "mapping": mapping},
            created_at=NOW,
        )
        snapshot = take(world, dora)
    lines = "".join(
        f"{query.qid} {docid} {rank}\n"
        for query in world.queries
        for rank, docid in enumerate(("d9", "d2", "d5"), start=1)
    )
    assert (
        snapshot.run.sha256
        == make_run(collection=world.collection, text=lines, ranker="uploaded").sha256
    )


def cut_off(connection):
    answer(b'{"results": [', length=500)(connection)
    connection.close()


HUGE = b'{"results": [' + b"0," * 6_000_000 + b"0]}"


@pytest.mark.parametrize(
    ("reply", "outcome", "attempts"),
    [
        (answer(b"down", status="500 Oops"), "http_error", 1),
        (answer(b"busy", status="503 Busy"), "http_error", 2),
        (answer(b"", "Location: http://169.254.169.254/", status="302 Found"), "http_error", 1),
        (cut_off, "bad_answer", 1),
        (answer(b'{"results": [{"id": "a", "score": NaN}]}'), "bad_answer", 1),
        (answer(b'{"results": [{"id": "d1", "score": 1}, {"id": "d1", "score": 1}]}'),
         "bad_answer", 1),
        (answer(b"<html>Please sign in</html>"), "bad_answer", 1),
        (answer(b"{}"), "bad_answer", 1),
        (answer(b""), "bad_answer", 1),
        (answer(HUGE), "too_large", 1),
        (lambda connection: connection.recv(1), "timeout", 1),
        (lambda connection: connection.close(), "connect", 2),
    ],
)  # fmt: skip
def test_an_answer_that_is_none_is_an_outcome_and_never_an_empty_result(
    settings, tmp_path, reply, outcome, attempts
):
    settings.HOME = tmp_path
    world = make_world(queries=2, documents=2)
    with serving(reply) as server:
        settings.OUTGOING = read_origins([server.entry])
        make_live(world, server.url, timeout=0.5, attempts=2, at_once=1)
        snapshot = take(world, make_access(collection=world.collection, username="dora"))
    assert set(outcomes(snapshot).values()) == {outcome}
    assert set(snapshot.answers.values_list("attempts", "row_count")) == {(attempts, 0)}
    assert snapshot.state == "failed"
    assert "0 of 2 queries were answered" in snapshot.problem
    assert not Run.objects.exists()


def test_a_redirect_reaches_no_other_server(world, dora, settings):
    with serving(answer(b'{"results": []}')) as other:
        location = f"Location: {other.url}/"
        with serving(answer(b"", location, status="307 Temporary Redirect")) as server:
            settings.OUTGOING = read_origins([server.entry])
            make_live(world, server.url)
            snapshot = take(world, dora)
    assert set(outcomes(snapshot).values()) == {"http_error"}
    assert other.connections == 0


def test_empty_is_an_answer_and_the_run_is_made(world, dora, settings):
    first = world.queries[0]

    def respond(text):
        return results([]) if text == first.text else results([("d1", 1.0), ("d2", 0.5)])

    with running(respond) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        make_live(world, engine.url)
        snapshot = take(world, dora)
    found = outcomes(snapshot)
    assert found.pop(first.qid) == "empty"
    assert set(found.values()) == {"ok"}
    assert snapshot.run.query_count == len(world.queries) - 1
    assert snapshot.run.parameters["queries asked"] == len(world.queries)


def test_too_few_answers_make_no_run_and_the_share_is_the_revisions(world, dora, settings):
    first = world.queries[0]

    def respond(text):
        return (500, {}, b"") if text == first.text else results([("d1", 1.0)])

    with running(respond) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        make_live(world, engine.url)
        assert take(world, dora).state == "failed"
        make_live(world, engine.url, min_answered=0.9)
        snapshot = take(world, dora)
    assert snapshot.state == "done"
    assert snapshot.run.parameters["queries failed"] == 1
    assert snapshot.revision.number == 2


def test_retry_after_is_obeyed_by_all_requests(world, dora, settings):
    came, busy = [], [True]

    def respond(_):
        came.append(time.monotonic())
        return (429, {"Retry-After": "1"}, b"") if busy and busy.pop() else results([("d1", 1.0)])

    with running(respond) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        make_live(world, engine.url, at_once=1)
        snapshot = take(world, dora)
    assert snapshot.state == "done"
    assert came[1] - came[0] >= 1.0
    assert sorted(snapshot.answers.values_list("attempts", flat=True)) == [1] * 11 + [2]


def test_an_engine_that_asks_for_an_hour_ends_the_snapshot(world, dora, settings):
    with running(lambda _: (429, {"Retry-After": "3600"}, b"")) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        make_live(world, engine.url, at_once=1)
        snapshot = take(world, dora)
    assert (snapshot.state, len(engine.asked)) == ("failed", 1)
    assert "3,600 s" in snapshot.problem


def test_an_engine_that_is_away_is_left_alone(world, dora, settings, monkeypatch):
    class QuickPace(Pace):
        def __init__(self, **given):
            super().__init__(**given, rule=BreakerRule(failures=3, pause=0.05, openings=2))

    monkeypatch.setattr(taking, "Pace", QuickPace)
    with running(lambda _: (500, {}, b"")) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        make_live(world, engine.url, at_once=1)
        snapshot = take(world, dora)
    assert (snapshot.state, len(engine.asked)) == ("failed", 4)
    assert "did not answer" in snapshot.problem


def test_a_snapshot_goes_on_in_other_jobs_without_asking_a_query_again(
    world, dora, settings, monkeypatch
):
    monkeypatch.setattr(slices, "SLICE", 0.1)
    with running(lambda _: results([("d1", 1.0)]), seconds=0.06) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        make_live(world, engine.url, at_once=2)
        snapshot = take(world, dora)
    assert snapshot.state == "done"
    assert Job.objects.filter(kind="take_snapshot").count() > 1
    assert sorted(engine.asked) == sorted(texts(world))


def test_a_process_that_was_told_to_end_stores_what_came_and_another_asks_the_rest(
    world, dora, settings, request
):
    request.addfinalizer(process_ends.clear)

    def respond(_):
        if len(engine.asked) == 1:
            process_ends.set()
        return results([("d1", 1.0)])

    with running(respond) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        make_live(world, engine.url, at_once=1)
        snapshot = take(world, dora)
        assert snapshot.state == "running"
        assert 1 <= snapshot.answers.count() == len(engine.asked) < len(texts(world))
        process_ends.clear()  # as in another process
        work()
    snapshot.refresh_from_db()
    assert snapshot.state == "done"
    assert sorted(engine.asked) == sorted(texts(world))


def test_a_server_that_is_not_on_the_list_is_not_asked(world, dora, settings):
    with running(lambda _: results([])) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        make_live(world, engine.url)
        settings.OUTGOING = read_origins(["https://other.example"])
        snapshot = take(world, dora)
        with pytest.raises(ConfigurationRefused, match="not on the list"):
            make_live(world, engine.url, depth=7)
        settings.OUTGOING = ()
        with pytest.raises(ConfigurationRefused, match="TOUCHSTONE_OUTGOING"):
            make_live(world, engine.url, depth=7)
    assert snapshot.state == "failed"
    assert "not on the list of allowed hosts" in snapshot.problem
    assert engine.asked == []


def test_no_spelling_of_another_address_is_asked(world, settings):
    with running(lambda _: results([])) as engine:
        settings.OUTGOING = read_origins(["http://images.example.org", engine.entry])
        for host in HOSTS:
            for port in ("", ":9"):
                with pytest.raises(ConfigurationRefused) as refused:
                    make_live(world, f"http://{host}{port}")
                assert refused.value.field == "url"
    assert engine.asked == []
    assert not LiveRevision.objects.exists()


def test_a_name_that_leads_elsewhere_is_refused_when_it_is_asked(world, dora, settings):
    settings.OUTGOING = read_origins(["http://localhost:9"])  # its addresses are not public
    make_live(world, "http://localhost:9")
    snapshot = take(world, dora)
    assert set(outcomes(snapshot).values()) == {"refused"}
    assert snapshot.state == "failed"


def test_the_secret_is_sent_and_is_nowhere_else(world, dora, settings):
    with running(lambda _: results([("d1", 1.0)])) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        revision = make_live(world, engine.url, secret_header="X-Key", secret="sesame-8Q2x")
        snapshot = take(world, dora)
        assert {one["x-key"] for one in engine.headers} == {"sesame-8Q2x"}
        settings.OUTGOING = read_origins([engine.entry, "http://127.0.0.1:9=127.0.0.0/8"])
        with pytest.raises(ConfigurationRefused, match="Enter the one of"):
            make_live(world, "http://127.0.0.1:9", secret_header="X-Key")
        remove_secret(access=dora, ranker=snapshot.source.ranker, at=NOW)
        again = take(world, dora)
    assert again.state == "failed"
    assert "Enter it again" in again.problem
    stored = [str(revision.configuration), *(one.detail for one in snapshot.answers.all())]
    stored += [str(entry.after) for entry in AuditEntry.objects.all()]
    assert not any("sesame" in text for text in stored)


def test_documents_of_which_only_the_id_is_known_are_filled_and_others_are_left(
    world, dora, settings
):
    known = world.documents[0]
    rows = [(known.docid, 2.0), ("new", 1.0)]
    with running(lambda _: results(rows, title="From the engine")) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        make_live(world, engine.url)
        snapshot = take(world, dora)
    assert snapshot.state == "done"
    assert Document.objects.get(docid="new").title == "From the engine"
    assert Document.objects.get(pk=known.pk).title == known.title


def test_one_snapshot_of_a_ranker_at_a_time_and_it_can_be_stopped(world, dora, settings):
    with running(lambda _: results([("d1", 1.0)])) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        ranker = make_live(world, engine.url).source.ranker
        snapshot = start_snapshot(access=dora, ranker=ranker, at=NOW)
        with pytest.raises(LiveRefused, match="still running"):
            start_snapshot(access=dora, ranker=ranker, at=NOW)
        stop_snapshot(access=dora, snapshot=snapshot, at=NOW)
        work()
        with pytest.raises(LiveRefused, match="ended already"):
            stop_snapshot(access=dora, snapshot=snapshot, at=NOW)
    assert engine.asked == []
    assert Snapshot.objects.get().state == "stopped"


def test_the_same_configuration_is_no_new_revision_and_a_revision_never_changes(
    world, dora, settings
):
    settings.OUTGOING = read_origins(["http://127.0.0.1:9=127.0.0.0/8"])
    first = make_live(world, "http://127.0.0.1:9")
    assert make_live(world, "http://127.0.0.1:9") == first
    assert make_live(world, "http://127.0.0.1:9", depth=7).number == 2
    with pytest.raises(DatabaseError):
        LiveRevision.objects.filter(pk=first.pk).update(number=3)


def test_a_schedule_starts_one_snapshot_for_all_times_that_were_missed(world, dora, settings):
    with running(lambda _: results([("d1", 1.0)])) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        ranker = make_live(world, engine.url).source.ranker
        due = set_schedule(
            access=dora, ranker=ranker, cron="*/5  * * * *", time_zone="Asia/Tokyo", at=NOW
        )
        assert not is_snapshot_due(NOW)
        late = due.replace(hour=due.hour + 3)
        assert is_snapshot_due(late)
        assert (start_due_snapshots(at=late), start_due_snapshots(at=late)) == (1, 0)
        assert LiveSource.objects.get().next_at > late
        # one is running: the next is left out
        assert start_due_snapshots(at=late.replace(minute=55)) == 0
        work()
    snapshot = Snapshot.objects.get()
    assert (snapshot.state, snapshot.is_scheduled, snapshot.created_by) == ("done", True, None)
    set_schedule(access=dora, ranker=ranker, cron="", time_zone="", at=NOW)
    assert LiveSource.objects.get().next_at is None


def test_a_snapshot_whose_job_gave_up_ends_and_makes_room(world, dora, settings):
    with running(lambda _: results([("d1", 1.0)])) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        ranker = make_live(world, engine.url).source.ranker
        snapshot = start_snapshot(access=dora, ranker=ranker, at=NOW)
        Job.objects.update(state="failed", result={"message": "Gave up."}, finished_at=NOW)
        assert is_snapshot_due(NOW)
        start_due_snapshots(at=NOW)
        snapshot.refresh_from_db()
        assert (snapshot.state, snapshot.problem) == ("failed", "Gave up.")
        assert take(world, dora).state == "done"


def test_annotators_and_strangers_start_nothing(world, settings):
    settings.OUTGOING = read_origins(["http://127.0.0.1:9=127.0.0.0/8"])
    ranker = make_live(world, "http://127.0.0.1:9").source.ranker
    ben = make_access(collection=world.collection, username="ben")
    with pytest.raises(NotFound):
        start_snapshot(access=ben, ranker=ranker, at=NOW)


def test_queries_without_a_text_are_not_asked(world, dora, settings):
    Query.objects.filter(pk=world.queries[0].pk).update(text="", is_stub=True)
    with running(lambda _: results([("d1", 1.0)])) as engine:
        settings.OUTGOING = read_origins([engine.entry])
        make_live(world, engine.url)
        assert take(world, dora).queries == len(world.queries) - 1
    Query.objects.update(text="")
    with pytest.raises(LiveRefused, match="no queries with a text"):
        take(world, dora)


def test_redis_is_asked_with_its_user_and_gives_a_run_as_over_http(world, dora, settings):
    rows = [(f"d{n}", str(0.1 * n), {"title": f"Title {n}"}) for n in (9, 7, 3)]
    with serving_redis(send(resp3(3, *rows))) as server:
        settings.OUTGOING = read_origins([server.entry])
        make_live(
            world,
            server.url,
            method="REDIS",
            url=server.url,
            body=["FT.SEARCH", "books", "{{any_word}}", "WITHSCORES", "LIMIT", 0, "{{depth}}"],
            mapping=PRESETS["redis"].mapping,
            secret_header="reader",
            secret="pass word",
        )
        snapshot = take(world, dora)
    assert (snapshot.state, snapshot.problem) == ("done", "")
    assert ["HELLO", "3", "AUTH", "reader", "pass word"] in server.commands
    searches = [words for words in server.commands if words[0] == "FT.SEARCH"]
    assert {words[2] for words in searches} == {
        "|".join(re.findall(r"\w+", query.text)) for query in world.queries
    }
    assert {words[-1] for words in searches} == {"100"}
    lines = "".join(
        f"{query.qid} Q0 {docid} {rank} {score} x\n"
        for query in world.queries
        for rank, (docid, score, _) in enumerate(rows, start=1)
    )
    uploaded = make_run(collection=world.collection, text=lines, ranker="uploaded")
    assert snapshot.run.sha256 == uploaded.sha256


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"url": "http://127.0.0.1:1"}, "url"),
        ({"url": "redis://127.0.0.1:1/{{id}}"}, "url"),
        ({"body": {"query": "{{text}}"}}, "body"),
        ({"body": ["FLUSHALL", "{{text}}"]}, "body"),
        ({"headers": (("X-A", "b"),)}, "headers"),
        ({"method": "POST"}, "url"),
    ],
)
def test_a_redis_command_that_can_not_be_sent_is_refused_when_it_is_saved(
    world, settings, given, field
):
    settings.OUTGOING = read_origins(["redis://127.0.0.1:1=127.0.0.0/8"])
    usual = {
        "method": "REDIS",
        "url": "redis://127.0.0.1:1",
        "body": ["FT.SEARCH", "books", "{{any_word}}"],
        "mapping": PRESETS["redis"].mapping,
    }
    with pytest.raises(ConfigurationRefused) as refused:
        make_live(world, "", **(usual | given))
    assert refused.value.field == field
