"""Judging in batches: what is sent once, what becomes a label, and what a kill costs."""

import json

import pytest
from django.utils import timezone

from annotation.machine_judges.batch_files import (
    BatchRefused,
    read_batch,
    read_results,
    request_line,
)
from annotation.machine_judges.campaigns import start_judging, stop_judging
from annotation.machine_judges.configuration import Configuration, ConfigurationRefused, check
from annotation.machine_judges.services import JudgeRefused
from annotation.machine_judges.spending import get_remaining_budget, subject_of
from annotation.models import JudgeAttempt, JudgeBatch, JudgeCampaign, MachineLabel
from judgments.budgets.services import set_budgets
from judgments.jobs.services import work_jobs
from judgments.models import Budget, Job
from judgments.outgoing.rules import read_origins
from tests.annotation.machine_judges.batch_endpoint import serving
from tests.annotation.machine_judges.endpoint import completion, fails, grades, make_judge
from tests.annotation.page_reading import client_of, words
from tests.builders import NOW, make_access, make_world
from tests.builders_annotation import make_draft

pytestmark = pytest.mark.django_db
PAIRS = 6


@pytest.fixture
def world(settings, tmp_path):
    settings.HOME = tmp_path
    return make_world(queries=2, documents=3)


def start(world, settings, server, **given):
    settings.OUTGOING = read_origins([server.entry])
    own = {"parameters": {"temperature": 0, "max_tokens": 50}} | given
    revision = make_judge(world, server.url, batches=True, **own)
    access = make_access(collection=world.collection)
    draft = make_draft(world=world)
    return start_judging(access=access, judge=revision.judge, campaign=draft, at=NOW)


def work():
    """Work on everything that is queued, whenever it is due; a campaign may end by it."""
    for _ in range(40):
        Job.objects.filter(state="queued").update(not_before=None)
        if not work_jobs():
            return


def once():
    """One look at the batch."""
    Job.objects.filter(state="queued").update(not_before=None)
    work_jobs()


def outcomes():
    return sorted(JudgeAttempt.objects.values_list("outcome", flat=True))


def test_a_batch_labels_what_single_requests_would(world, settings):
    def respond(shown):
        return fails(400) if "Title 3" in shown else grades(1)

    with serving(respond) as server:
        own = start(world, settings, server, secret="Bearer sk-1", secret_header="Authorization")
        work()
    own.refresh_from_db()
    assert (own.state, own.problem) == ("done", "")
    assert outcomes() == ["http_error"] * 2 + ["labelled"] * 4
    assert MachineLabel.objects.count() == 4
    batch = JudgeBatch.objects.get()
    assert (batch.requests, batch.status, batch.problem) == (PAIRS, "completed", "")
    assert server.log[:3] == ["POST /v1/files", "POST /v1/batches", "GET /v1/batches/batch_0"]
    assert {headers["authorization"] for headers in server.headers} == {"Bearer sk-1"}
    sent = server.requests_of(server.batches["batch_0"])
    assert [one["custom_id"] for one in sent] == [f"pair-{n}" for n in range(PAIRS)]
    assert sent[0]["url"] == "/v1/chat/completions"
    spent = JudgeAttempt.objects.filter(outcome="labelled").values_list("prompt_tokens", flat=True)
    assert list(spent) == [100] * 4
    page = words(client_of("ada").get(f"/c/books/machine-judges/campaigns/{own.public_id}"))
    assert "batch_0" in page


def test_while_a_batch_is_under_way_its_cost_is_reserved_and_it_is_asked_for_less_and_less(
    world, settings
):
    with serving(lambda _: grades(1), end=None) as server:
        own = start(world, settings, server)
        once()
        batch = JudgeBatch.objects.get()
        assert batch.reserved_tokens > PAIRS * 50
        job = Job.objects.get(state="queued")
        assert 0 < (job.not_before - timezone.now()).total_seconds() < 6
        work_jobs()
        assert len(server.log) == 2  # not before its time
        for _ in range(3):
            once()
        waits = (JudgeBatch.objects.get().next_at - timezone.now()).total_seconds()
        assert 30 < waits <= 40
        assert JudgeCampaign.objects.get().state == "running"
        set_tokens(own, batch.reserved_tokens + 10)
        remaining = get_remaining_budget(own.judge, at=timezone.now())
        assert remaining.may_ask(0)
        set_tokens(own, batch.reserved_tokens)
        assert get_remaining_budget(own.judge, at=timezone.now()).is_empty
        server.end = "completed"
        work()
    assert JudgeCampaign.objects.get().state == "done"
    assert not get_remaining_budget(own.judge, at=timezone.now()).is_empty


def set_tokens(own, limit):
    set_budgets(
        access=make_access(collection=own.judge.collection),
        subject=subject_of(own.judge),
        name=own.judge.name,
        limits={(Budget.Unit.TOKENS, Budget.Period.TOTAL): limit},
        warn_percent=80,
        stops=True,
        at=NOW,
    )


def test_a_batch_is_as_large_as_the_budgets_allow(world, settings):
    with serving(lambda _: grades(1)) as server:
        own = start(world, settings, server)
        set_tokens(own, 1)
        work()
        assert server.log == []
        own.refresh_from_db()
        assert (own.state, JudgeBatch.objects.count()) == ("stopped", 0)


def test_a_worker_that_dies_between_upload_and_batch_makes_one_batch(world, settings):
    def dies(server, method, path):
        return 500 if (method, path) == ("POST", "/v1/batches") else None

    with serving(lambda _: grades(1), fault=dies) as server:
        start(world, settings, server)
        once()
        batch = JudgeBatch.objects.get()
        assert (batch.file_id, batch.batch_id, batch.failures) == ("file-0", "", 1)
        server.fault = None
        work()
        assert list(server.batches) == ["batch_0"]
        assert len([one for one in server.log if one == "POST /v1/files"]) == 1
    assert MachineLabel.objects.count() == PAIRS


@pytest.mark.parametrize(("lists", "batches"), [(True, 1), (False, 2)])
def test_a_batch_without_its_answer_is_found_again_where_batches_are_listed(
    world, settings, lists, batches
):
    """The server makes the batch, and its answer is lost: at most that one is paid twice."""

    def loses(server, method, path):
        if (method, path) != ("POST", "/v1/batches"):
            return None
        server.create("file-0")
        return 500

    with serving(lambda _: grades(1), fault=loses, lists=lists) as server:
        start(world, settings, server)
        once()
        assert JudgeBatch.objects.get().batch_id == ""
        server.fault = None
        work()
        assert len(server.batches) == batches
    assert MachineLabel.objects.count() == PAIRS
    assert JudgeAttempt.objects.count() == PAIRS


def test_a_worker_that_dies_before_the_upload_has_asked_nothing(world, settings):
    with serving(lambda _: grades(1)) as server:
        own = start(world, settings, server)
        given = {"pairs": b"", "requests": 1, "reserved_tokens": 9, "reserved_cost": 0}
        JudgeBatch.objects.create(campaign=own, next_at=NOW, created_at=NOW, **given)
        work()
        assert list(server.batches) == ["batch_0"]
    assert [one.problem for one in JudgeBatch.objects.all()] == ["never sent", ""]
    assert MachineLabel.objects.count() == PAIRS


def test_expired_lines_are_no_labels_and_are_asked_again_up_to_the_attempts(world, settings):
    def half(lines):
        answers, _ = lines
        late = [
            {"custom_id": one["custom_id"], "response": None, "error": {"code": "batch_expired"}}
            for one in answers[4:]
        ]
        return answers[:4], late

    with serving(lambda _: grades(1), end="expired", shape=half) as server:
        start(world, settings, server, attempts=2)
        once()
        once()
        assert outcomes() == ["labelled"] * 4 + ["timeout"] * 2
        assert not JudgeAttempt.objects.filter(outcome="timeout", is_last=True).exists()
        server.shape, server.end = None, "completed"
        work()
        assert len(server.requests_of(server.batches["batch_1"])) == 2
    assert MachineLabel.objects.count() == PAIRS
    assert JudgeCampaign.objects.get().state == "done"


def test_garbage_unknown_and_repeated_lines_are_left_out_and_a_missing_one_is_no_label(
    world, settings
):
    def shape(lines):
        answers, errors = lines
        other = {**answers[0], "response": {"status_code": 200, "body": body_of(grades(4))}}
        unknown = {**answers[1], "custom_id": "pair-77"}
        padded = {**answers[1], "custom_id": "pair-01"}
        return [*answers[:-1], other, unknown, padded], errors

    def raw(content):
        return b"\xff not json\n{}\n" + content

    with serving(lambda _: grades(1), shape=shape, raw=raw) as server:
        start(world, settings, server, attempts=1)
        work()
    assert outcomes() == ["labelled"] * 5 + ["timeout"]
    assert set(MachineLabel.objects.values_list("grade", flat=True)) == {1}
    assert JudgeBatch.objects.get().problem == "5 lines of its files were ignored"


def body_of(answered):
    return json.loads(answered[2])


def test_each_line_is_checked_as_a_single_answer_is(world, settings):
    answers = iter(
        [
            completion({"reason": "so", "grade": 9}),
            completion("certainly: 3"),
            completion({"grade": 1}),
            completion(None, refusal="no"),
            completion({"reason": "so", "grade": 2}, finish="length"),
            grades(2),
        ]
    )
    with serving(lambda _: next(answers)) as server:
        start(world, settings, server)
        work()
    expected = ["bad_json", "bad_schema", "declined", "labelled", "off_scale", "truncated"]
    assert outcomes() == expected
    assert MachineLabel.objects.get().grade == 2


def test_a_batch_that_is_refused_ends_the_campaign_without_attempts(world, settings):
    with serving(lambda _: grades(1), end="failed") as server:
        own = start(world, settings, server)
        work()
    own.refresh_from_db()
    assert (own.state, own.problem) == ("failed", "The batch was refused: Line 1 is too long.")
    assert JudgeAttempt.objects.count() == 0


def test_a_stopped_campaign_cancels_its_batch_and_keeps_what_was_answered(world, settings):
    with serving(lambda _: grades(1), end=None) as server:
        own = start(world, settings, server)
        once()
        access = make_access(collection=world.collection)
        stop_judging(access=access, own=own, at=timezone.now())
        with pytest.raises(JudgeRefused, match="still under way"):
            start_judging(access=access, judge=own.judge, campaign=own.campaign, at=timezone.now())
        once()
        assert server.log[-1] == "POST /v1/batches/batch_0/cancel"
        once()
    own.refresh_from_db()
    assert own.state == "stopped"
    assert MachineLabel.objects.count() == PAIRS
    assert JudgeBatch.objects.get().ended_at is not None
    assert not Job.objects.filter(state="queued").exists()


def test_an_endpoint_that_does_not_know_the_batch_ends_it_and_counts_it_as_perhaps_paid(
    world, settings
):
    with serving(lambda _: grades(1), end=None) as server:
        own = start(world, settings, server, attempts=1)
        once()
        server.fault = lambda *_: 404
        once()
    own.refresh_from_db()
    assert own.state == "failed"
    assert outcomes() == ["timeout"] * PAIRS


def test_a_secret_that_is_refused_meanwhile_loses_no_batch(world, settings):
    with serving(lambda _: grades(1)) as server:
        start(world, settings, server)
        once()
        server.fault = lambda *_: 401
        once()
        assert JudgeBatch.objects.get().failures == 1
        server.fault = None
        work()
    assert MachineLabel.objects.count() == PAIRS


def test_what_is_no_batch_is_refused():
    for body in (b"", b"[]", b"{}", b'{"id": "", "status": "x"}', b'{"id": 3, "status": "x"}'):
        with pytest.raises(BatchRefused):
            read_batch(body)
    assert read_batch(b'{"id": "b", "status": "completed", "output_file_id": 3}').output == ""


def test_lines_are_told_to_requests_by_their_ids_alone():
    content = b'{"custom_id": "pair-1", "response": {"status_code": true, "body": []}}\n\n'
    (line,) = read_results(content + b'{"custom_id": "pair-2"}', requests=2)
    assert (line.position, line.status, line.body, line.error) == (1, None, None, "")
    assert request_line(3, b"{}").endswith(b'"body": {}}\n')


def test_batches_need_a_url_that_ends_as_it_must():
    with pytest.raises(ConfigurationRefused):
        check(Configuration(url="https://api.example/v1/answers", model="m", batches=True))
