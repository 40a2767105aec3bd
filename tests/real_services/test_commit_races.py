"""Two who commit at once, over two real connections."""

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.db import transaction

from judgments.collections.query_metadata import get_query_traits
from judgments.collections.services import load_queries
from judgments.jobs import kinds as registry
from judgments.jobs.services import submit_job, work_jobs
from judgments.lists.services import revert_version
from judgments.members.services import MemberRefused, change_role, invite, register_and_accept
from judgments.models import Job, Judgment, JudgmentVersion, Membership, SetLook, User
from judgments.permissions import NotFound, get_access
from judgments.sets.services import record_look
from judgments.versions.queries import get_judged
from judgments.versions.services import Change, commit_judgments
from tests.builders import (
    NOW,
    World,
    commit,
    make_access,
    make_member,
    make_set,
    make_user,
    make_world,
)
from tests.racing import ROUNDS, raised
from touchstone.files.collections import QueryRecord

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

COMMITS = max(25, ROUNDS)
JOBS = 30  # fewer than one worker takes at a time


@pytest.fixture
def world() -> World:
    return make_world(queries=5, documents=20)


def check_history(world: World) -> None:
    """No version is missing or double, and each holds what its rows and counts say."""
    world.judgments.refresh_from_db()
    numbers = list(JudgmentVersion.objects.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, world.judgments.head + 1))
    held: dict[tuple[int, int], int] = {}
    for version in JudgmentVersion.objects.order_by("number"):
        now = get_judged(list_id=world.judgments.pk, version=version.number).pairs()
        assert version.added == len(now.keys() - held.keys())
        assert version.removed == len(held.keys() - now.keys())
        assert version.changed == sum(held[p] != now[p] for p in held.keys() & now.keys())
        held = now


def test_two_committers_on_the_same_pairs_follow_one_another(world, at_once):
    def committer(grade: int) -> Callable[[], None]:
        def work() -> None:
            for turn in range(COMMITS):
                changes = [
                    Change(world.queries[0].pk, document.pk, (grade + turn) % 5)
                    for document in world.documents
                ]
                commit_judgments(
                    judgment_list=world.judgments,
                    changes=changes,
                    by=None,
                    at=NOW,
                    reason="",
                    source="labels",
                )

        return work

    assert raised(at_once(committer(0), committer(2))) == []
    check_history(world)
    assert Judgment.objects.filter(until=None).count() == len(world.documents)


def test_committers_on_different_pairs_lose_nothing(world, at_once):
    def committer(query) -> Callable[[], None]:
        def work() -> None:
            for document in world.documents:
                commit(judgment_list=world.judgments, grades={(query, document): 3})

        return work

    assert raised(at_once(*[committer(query) for query in world.queries])) == []
    check_history(world)
    held = get_judged(list_id=world.judgments.pk, version=world.judgments.head)
    assert len(held) == len(world.queries) * len(world.documents)
    assert world.judgments.head == len(held)


def test_a_revert_beside_commits_holds_exactly_the_old_version(world, at_once):
    q, (d1, d2, *_) = world.queries[0], world.documents
    commit(judgment_list=world.judgments, grades={(q, d1): 4})
    ada = make_access(collection=world.collection)

    def commits() -> None:
        for turn in range(COMMITS):
            commit(judgment_list=world.judgments, grades={(q, d2): turn % 5})

    def reverts() -> None:
        for _ in range(COMMITS):
            revert_version(
                access=ada, at=NOW, judgment_list=world.judgments, number=1, reason="back"
            )

    assert raised(at_once(commits, reverts)) == []
    check_history(world)
    first = get_judged(list_id=world.judgments.pk, version=1).pairs()
    for version in JudgmentVersion.objects.filter(source="revert"):
        assert get_judged(list_id=world.judgments.pk, version=version.number).pairs() == first


def test_a_job_is_done_once_however_many_workers_there_are(world, monkeypatch, at_once):
    done: list[int] = []

    def handle(work) -> None:
        done.append(work.job_id)
        work.finish({})

    monkeypatch.setitem(registry._handlers, "test", handle)
    ada = make_access(collection=world.collection)
    for _ in range(-(-ROUNDS // JOBS)):
        done.clear()
        jobs = [
            submit_job(access=ada, kind="test", file=None, params={}, at=NOW).pk
            for _ in range(JOBS)
        ]
        assert raised(at_once(*[work_jobs] * 4)) == []
        assert sorted(done) == jobs
    assert set(Job.objects.values_list("state", "attempts")) == {("done", 1)}


def test_one_invitation_lets_one_person_in(world, at_once):
    for turn in range(ROUNDS):
        ada = make_access(collection=world.collection)
        _, token = invite(access=ada, role="annotator", note="", days=1, at=NOW)
        before = Membership.objects.count()
        results = at_once(
            *[
                lambda token=token, name=f"new{turn}-{number}": register_and_accept(
                    token=token,
                    username=name,
                    name="",
                    password="a long enough pass phrase",
                    at=NOW,
                )
                for number in range(4)
            ]
        )
        assert [type(error) for error in raised(results)] == [NotFound] * 3
        assert Membership.objects.count() == before + 1
        assert User.objects.filter(username__startswith=f"new{turn}-").count() == 1


def test_two_leads_who_unmake_each_other_leave_one(world, at_once):
    make_member(collection=world.collection, username="fay", role="lead")
    root = make_user(username="root", is_superuser=True)
    admin = get_access(viewer=root, slug=world.collection.slug)
    leads = Membership.objects.filter(collection=world.collection, role="lead")
    for _ in range(ROUNDS):
        results = at_once(
            *[
                lambda name=name: change_role(access=admin, username=name, role="annotator", at=NOW)
                for name in ("ada", "fay")
            ]
        )
        assert [type(error) for error in raised(results)] == [MemberRefused]
        (left,) = leads
        (unmade,) = {"ada", "fay"} - {left.user.username}
        change_role(access=admin, username=unmade, role="lead", at=NOW)


def test_a_query_first_judged_while_its_segment_changes_has_one_segment_in_that_version(
    world, at_once
):
    query, document = world.queries[0], world.documents[0]
    is_loaded = threading.Event()
    said: list[str] = []

    def segment_of_the_version() -> str:
        found = get_query_traits(list_id=world.judgments.pk, version=1, query_ids=[query.pk])
        return found[query.pk].segment

    def load() -> None:
        record = QueryRecord(query_id=query.qid, text="text", segment="new", line=1)
        with transaction.atomic():
            load_queries(collection=world.collection, records=[record], by=None, at=NOW)
            is_loaded.set()
            time.sleep(0.5)  # so that the commit comes in between, if it can

    def judge() -> None:
        assert is_loaded.wait(10)
        commit(judgment_list=world.judgments, grades={(query, document): 3})
        said.append(segment_of_the_version())

    assert raised(at_once(load, judge)) == []
    assert said == [segment_of_the_version()] == ["new"]


def test_a_held_out_page_asked_for_many_times_at_once_is_one_look(world, at_once):
    saved = make_set(world=world, qids=["q1"], is_held_out=True)
    dora = make_access(collection=world.collection, username="dora")
    page = SetLook.Page.COMPARISON

    for day in range(ROUNDS):

        def look(at: datetime = NOW + timedelta(days=day)) -> None:
            record_look(access=dora, saved_set=saved, list_slug="main", page=page, at=at)

        assert raised(at_once(*[look] * 8)) == []
        assert SetLook.objects.count() == day + 1
