"""Campaigns for an active adversary, and the other people who label in them."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation.campaigns.services import add_annotators
from annotation.gold.checking import check_labels
from annotation.gold.services import Answer as RightAnswer
from annotation.gold.services import change_checks, mark_answers
from annotation.models import OVERLAP_PURPOSES, Assignment, Campaign, StandIn
from judgments.models import Document, User
from judgments.permissions import Access
from tests.builders import NOW, make_access, make_member, make_world
from tests.builders_annotation import make_campaign

PAIRS = 20  # of a query that are not gold, on average
SPARE = 1.6  # gold that a query has, for each one that someone meets
OTHERS = 12  # people beside the adversary


@dataclass(frozen=True)
class Plan:
    """A campaign's design. percent: the share of gold. half: 0 to fit on, 1 to score on."""

    percent: int
    order: str
    half: int
    queries: int
    seed: int
    overlap: int = 2


class World:
    """A campaign, who labels in it, and (for the test's own eyes) which pairs are gold."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.rng = plan, random.Random(f"world {plan.seed}")
        self.world = make_world(queries=plan.queries, documents=3 * PAIRS)
        self._write_documents()
        self.others = [self._make_person(f"other{number}") for number in range(OTHERS)]
        self.campaign = self._make_campaign()
        self._made = 0

    def make_account_name(self) -> str:
        """A new annotator of the campaign; the user name."""
        self._made += 1
        user = self._make_person(f"adversary{self._made}")
        add_annotators(access=self._access, campaign=self.campaign, people=[user], at=NOW)
        return user.username

    @cached_property
    def gold(self) -> frozenset[int]:
        return frozenset(self.campaign.gold.values_list("pair", flat=True))

    def are_gold(self, assignments: Sequence[str]) -> dict[str, bool]:
        """Which assignments show a gold pair."""
        seats_qs = Assignment.objects.filter(public_id__in=assignments)
        rows = seats_qs.annotate(shown=Coalesce("stand_in__shown", "pair"))
        return {
            str(name): shown in self.gold for name, shown in rows.values_list("public_id", "shown")
        }

    def list_returned(self, assignments: Sequence[str]) -> set[str]:
        """The assignments of pairs that gold had replaced for the same person before."""
        drawn = StandIn.objects.filter(annotator=OuterRef("annotator"), replaced=OuterRef("pair"))
        seats_qs = Assignment.objects.filter(Exists(drawn), public_id__in=assignments)
        seats_qs = seats_qs.filter(stand_in=None)
        return {str(name) for name in seats_qs.values_list("public_id", flat=True)}

    def fill(self, share: float) -> None:
        """Let other people take and label free seats, until they have so much of the overlap."""
        seats_qs = Assignment.objects.filter(
            pair__campaign=self.campaign, purpose__in=OVERLAP_PURPOSES
        ).order_by("pk")
        self.let_workers_run()
        filled = seats_qs.filter(annotator__in=self.others, state=Assignment.State.DONE).count()
        free = list(seats_qs.filter(state=Assignment.State.FREE).values_list("pk", "seat"))
        plain = self.campaign.pairs.count() - len(self.gold)
        wanted = round(share * plain * self.plan.overlap) - filled
        chosen = self.rng.sample(free, min(max(wanted, 0), len(free)))
        for number in {seat for _, seat in chosen}:
            own = [pk for pk, seat in chosen if seat == number]
            Assignment.objects.filter(pk__in=own).update(
                state=Assignment.State.DONE, annotator=self.others[number % OTHERS]
            )

    def let_workers_run(self) -> None:
        """What a worker does within seconds of a label: it compares labels with right answers."""
        while check_labels(list_id=self.campaign.list_id, at=timezone.now()):
            pass

    def settle(self, assignments: Sequence[str]) -> None:
        """Count plain pairs that the adversary holds as labelled, without a request for each."""
        held_qs = Assignment.objects.filter(public_id__in=assignments, stand_in=None)
        held_qs.filter(state=Assignment.State.LEASED).update(
            state=Assignment.State.DONE, leased_until=None
        )

    def let_leases_expire(self) -> None:
        """As if everyone had gone away for a day."""
        Assignment.objects.filter(
            pair__campaign=self.campaign, state=Assignment.State.LEASED
        ).update(leased_until=timezone.now() - timedelta(days=1))

    @property
    def _access(self) -> Access:
        return make_access(collection=self.world.collection)

    def _make_person(self, username: str) -> User:
        return make_member(collection=self.world.collection, username=username, role="annotator")

    def _write_documents(self) -> None:
        """Texts of different lengths; which pairs are gold has nothing to do with them."""
        for document in self.world.documents:
            document.title = f"{document.docid} " + "word " * self.rng.randint(1, 12)
            document.body = f"About {document.docid}. " + "and so on " * self.rng.randint(0, 20)
        Document.objects.bulk_update(self.world.documents, ["title", "body"])

    def _make_campaign(self) -> Campaign:
        spare = SPARE * PAIRS * self.plan.percent / 100
        drawn, golden = [], set()
        for query in self.world.queries:
            gold = int(spare + self.rng.random())
            plain = self.rng.randint(PAIRS - 3, PAIRS + 3)
            documents = self.rng.sample(self.world.documents, plain + gold)
            drawn += [(query, document) for document in documents]
            golden |= {(query.pk, document.pk) for document in documents[:gold]}
        self.rng.shuffle(drawn)
        campaign = make_campaign(
            world=self.world,
            pairs=drawn,
            people=[person.username for person in self.others],
            overlap=self.plan.overlap,
            order=self.plan.order,
            seed=self.plan.seed,
        )
        answers = [
            RightAnswer(pair.pk, 1, 2, "So.")
            for pair in campaign.pairs.order_by("pk")
            if (pair.query_id, pair.document_id) in golden
        ]
        mark_answers(access=self._access, campaign=campaign, answers=answers, at=NOW)
        change_checks(
            access=self._access, campaign=campaign, at=NOW, gold_percent=self.plan.percent
        )
        return campaign


@contextmanager
def taken_back() -> Iterator[None]:
    """Whatever is done inside has not been done afterwards."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
