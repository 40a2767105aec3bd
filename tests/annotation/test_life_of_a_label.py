"""The whole life of labels, in any order that anyone can think of: nothing is lost on the way.

TOUCHSTONE_LIVES=1000 TOUCHSTONE_STEPS=50 is a long form of it.
"""

import os
from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import hypothesis
import pytest
from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from annotation.adjudication.services import adjudicate, reopen
from annotation.consolidation.services import consolidate
from annotation.labelling.leasing import release_expired, release_leases
from annotation.labelling.services import submit_labels
from annotation.labelling.submissions import RETRACTED, Submission
from annotation.models import Assignment, Campaign, Label
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.evaluations.verifying import verify_list
from evaluation.models import Evaluation, Run
from evaluation.runs.services import withdraw_run
from judgments.lists.services import revert_version
from judgments.models import Judgment
from judgments.permissions import Access
from tests.builders import NOW, World, commit, make_access, make_member, make_world
from tests.builders_annotation import context_of, lease, make_campaign, said
from tests.evaluation.builders import make_run
from touchstone.errors import DomainError

LIVES = int(os.environ.get("TOUCHSTONE_LIVES", "15"))
STEPS = int(os.environ.get("TOUCHSTONE_STEPS", "30"))
OVERLAP = 2
COLUMNS = (
    "pk", "annotator__username", "outcome", "grade", "pair", "assignment", "supersedes",
)  # fmt: skip
PEOPLE = st.sampled_from(["ben", "cem", "dan"])
GRADES = st.integers(0, 4)


@dataclass
class Scene:
    """A campaign of four pairs, three annotators, a lead, and two runs."""

    world: World
    campaign: Campaign
    access: Access
    pairs: list[int]


def build_scene() -> Scene:
    world = make_world(queries=2, documents=3)
    make_member(collection=world.collection, username="dan", role="annotator")
    pairs = [(query, document) for query in world.queries for document in world.documents[:2]]
    campaign = make_campaign(
        world=world, people=("ben", "cem", "dan"), pairs=pairs, overlap=OVERLAP
    )
    for ranker in ("one", "two"):
        docs = {query.qid: ["d3", "d1", "d2"] for query in world.queries}
        make_run(collection=world.collection, rankings=docs, ranker=ranker)
    keys = list(campaign.pairs.order_by("pk").values_list("pk", flat=True))
    return Scene(world, campaign, make_access(collection=world.collection), keys)


class Life(RuleBasedStateMachine):
    """Everything that may befall a scene, from its beginning."""

    scene: Scene

    def __init__(self) -> None:
        super().__init__()
        self._undone = transaction.atomic()
        self._undone.__enter__()
        self.now = NOW
        own = deepcopy(self.scene)  # what rows were read as is changed in place
        self.world, self.campaign, self.access = own.world, own.campaign, own.access
        self.pairs = self.scene.pairs
        self.sent: dict[Any, tuple[str, Submission]] = {}

    def teardown(self) -> None:
        """What was done is undone; and at the end everything comes to rest first."""
        try:
            self.work()
            found = verify_list(judgment_list=self._list(), every_step=True)
        finally:
            transaction.set_rollback(True)
            self._undone.__exit__(None, None, None)
        assert found.problems == ()

    def _list(self) -> Any:
        self.world.judgments.refresh_from_db()
        return self.world.judgments

    def _pair(self, number: int) -> Any:
        pairs = self.campaign.pairs.select_related("campaign", "list")
        return pairs.get(pk=self.pairs[number % len(self.pairs)])

    def _send(self, username: str, submission: Submission) -> None:
        context = context_of(self.campaign, username)
        receipt = submit_labels(context=context, submissions=[submission], at=self.now)[0]
        if receipt.is_stored:
            before = self.sent.setdefault(submission.id, (username, submission))
            assert before == (username, submission), "one id stands for two labels"

    def _seat(self, username: str, number: int) -> Assignment | None:
        seats = list(Assignment.objects.filter(annotator__username=username).order_by("pk"))
        return seats[number % len(seats)] if seats else None

    @rule(person=PEOPLE, count=st.integers(1, 4))
    def take(self, person: str, count: int) -> None:
        """Ask for pairs."""
        lease(campaign=self.campaign, username=person, count=count, at=self.now)

    @rule(person=PEOPLE, number=st.integers(0, 9), grade=st.none() | GRADES)
    def say(self, person: str, number: int, grade: int | None) -> None:
        """Label a pair whose seat is or was one's own: the first time, again, or too late."""
        seat = self._seat(person, number)
        if seat is not None:
            reason = {} if grade is not None else {"reason": "unclear"}
            self._send(person, said(seat=seat, grade=grade, at=self.now, **reason))

    @rule(number=st.integers(0, 99), is_other=st.booleans())
    def repeat(self, number: int, is_other: bool) -> None:
        """Send something again, as it was or under the same id with other content."""
        if self.sent:
            username, submission = list(self.sent.values())[number % len(self.sent)]
            if is_other:
                submission = replace(submission, seconds=9.75)
            context = context_of(self.campaign, username)
            receipt = submit_labels(context=context, submissions=[submission], at=self.now)[0]
            assert receipt.is_stored != is_other
            assert is_other or receipt.is_repeat

    @rule(number=st.integers(0, 99))
    def take_back(self, number: int) -> None:
        """Undo the last word on a pair."""
        if self.sent:
            username, last = list(self.sent.values())[number % len(self.sent)]
            seat = Assignment.objects.get(public_id=last.assignment)
            self._send(username, said(seat=seat, outcome=RETRACTED, at=self.now))

    @rule(hours=st.sampled_from([0, 1, 5]), person=PEOPLE, gives_back=st.booleans())
    def wait(self, hours: int, person: str, gives_back: bool) -> None:
        """Time goes by, leases run out, someone closes the page."""
        self.now += timedelta(hours=hours, seconds=2)
        if gives_back:
            release_leases(context=context_of(self.campaign, person))
        release_expired(at=self.now)

    @rule(number=st.integers(0, 9), grade=GRADES)
    def decide(self, number: int, grade: int) -> None:
        """The lead decides, or takes a decision back."""
        pair = self._pair(number)
        with_reason = {"access": self.access, "pair": pair, "reason": "because", "at": self.now}
        try:
            with transaction.atomic():
                if grade == 0:
                    reopen(**with_reason)
                else:
                    adjudicate(grade=grade, **with_reason)
        except DomainError:
            return

    @rule(number=st.integers(0, 9), grade=GRADES)
    def judge_elsewhere(self, number: int, grade: int) -> None:
        """A grade comes in by an import."""
        pair = self._pair(number)
        grades = {(pair.query, pair.document): grade}
        now = Judgment.objects.filter(list=self._list(), query=pair.query, document=pair.document)
        if not now.filter(until=None, grade=grade).exists():  # the same again is no version
            commit(judgment_list=self._list(), grades=grades, by=self.world.ada, at=self.now)

    @rule(number=st.integers(0, 9))
    def turn_back(self, number: int) -> None:
        """The list becomes what an older version was."""
        judgment_list = self._list()
        if judgment_list.head:
            try:
                with transaction.atomic():
                    revert_version(
                        access=self.access,
                        at=self.now,
                        judgment_list=judgment_list,
                        number=1 + number % judgment_list.head,
                        reason="a mistake",
                    )
            except DomainError:
                return

    @rule()
    def withdraw(self) -> None:
        """A run is withdrawn; the last one stays."""
        runs = list(Run.objects.filter(withdrawn_at=None).order_by("pk"))
        if len(runs) > 1:
            withdraw_run(access=self.access, run=runs[0], at=self.now)

    @rule()
    def work(self) -> None:
        """The worker does what is due."""
        self.now += timedelta(seconds=2)
        consolidate(list_id=self.campaign.list_id, at=self.now)
        refresh_evaluations(list_id=self.campaign.list_id, at=self.now)
        head = self._list().head
        for run in Run.objects.filter(withdrawn_at=None) if head else ():
            assert Evaluation.objects.filter(run=run, version__number=head).exists()

    @invariant()
    def everything_acknowledged_is_stored_and_no_pair_has_more_than_its_overlap(self) -> None:
        """After every step, of one look at all labels."""
        rows = list(Label.objects.values_list(*COLUMNS, named=True))
        stored = {row.pk: (row.annotator__username, row.outcome, row.grade) for row in rows}
        assert stored == {
            pk: (username, one.outcome, one.grade) for pk, (username, one) in self.sent.items()
        }
        superseded = {row.supersedes for row in rows}
        holding = [row for row in rows if row.pk not in superseded]
        places = [(row.pair, row.annotator__username) for row in holding]
        assert len(places) == len(set(places)), "somebody has two words on a pair"
        graded = (row for row in holding if row.outcome == Label.Outcome.GRADED)
        pairs = Counter(row.pair for row in graded if row.assignment is not None)
        assert all(number <= OVERLAP for number in pairs.values())


@pytest.mark.django_db
def test_whatever_people_do_in_whatever_order_nothing_is_lost_and_every_bit_is_right() -> None:
    Life.scene = build_scene()
    run_state_machine_as_test(
        Life,
        settings=hypothesis.settings(
            max_examples=LIVES,
            stateful_step_count=STEPS,
            suppress_health_check=list(hypothesis.HealthCheck),
        ),
    )
