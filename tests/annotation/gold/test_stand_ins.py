"""Gold stands in for plain pairs: what an annotator does meets the same answers with and without.

Each test goes through the same steps twice in one campaign, once without gold in the plan and once
with much, and compares all that the annotator can see, and which places of their order came.
"""

import random
import uuid
from collections.abc import Callable
from copy import deepcopy
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import transaction

from annotation.campaigns.services import change_campaign
from annotation.consolidation.services import consolidate
from annotation.gold.checking import check_labels
from annotation.gold.services import change_checks, mark_gold, retire_gold
from annotation.labelling.leasing import lease_next, release_expired, release_leases
from annotation.labelling.own_campaigns import count_progress
from annotation.labelling.own_labels import list_own_labels
from annotation.labelling.services import Receipt, submit_label
from annotation.labelling.shown_pairs import list_leased_pairs
from annotation.labelling.skipping import return_skip, skip_query
from annotation.labelling.submissions import RETRACTED, LabelRefused, Submission
from annotation.models import Assignment, Campaign, Label, StandIn
from annotation.permissions import AnnotatorContext
from judgments.models import User
from judgments.permissions import Access
from tests.builders import NOW, make_access, make_member, make_world
from tests.builders_annotation import context_of, label, make_campaign, said

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]
both_orders = pytest.mark.parametrize("order", [Campaign.Order.BY_QUERY, Campaign.Order.SHUFFLED])
LONG = timedelta(days=2)
OTHERS = [f"other{number}" for number in range(8)]


Check = Callable[..., Campaign]


@pytest.fixture(scope="module")
def built(shared_rows: None) -> Campaign:
    """A campaign in which every third pair is gold; nothing is planted yet."""
    world = make_world(queries=4, documents=12)
    for name in OTHERS:
        make_member(collection=world.collection, username=name, role="annotator")
    campaign = make_campaign(world=world, people=["ben", *OTHERS], overlap=1)
    ada = make_access(collection=world.collection)
    for pair in campaign.pairs.select_related("campaign__list").order_by("pk")[::3]:
        mark_gold(access=ada, pair=pair, low=4, high=4, reason="", at=NOW)
    return campaign


@pytest.fixture
def ada(built: Campaign) -> Access:
    return make_access(collection=built.list.collection)


@pytest.fixture
def check(built: Campaign, ada: Access) -> Check:
    """Gives the campaign an order and an overlap."""
    return partial(change_campaign, access=ada, campaign=deepcopy(built), at=NOW)


class Person:
    """An annotator, and all that they get to see in one run through the steps."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.context: AnnotatorContext = context_of(campaign, "ben")
        self.seen: list[Any] = []
        self.shown: list[uuid.UUID] = []  # under which ids pairs were shown, in that order
        self.names: list[str] = []  # of the pairs shown
        self.sent: list[Submission] = []
        self.at = NOW
        self.gold = 0  # labels of it
        self.planted = 0  # leases of places that show it

    def next(self, count: int) -> int:
        """Ask for pairs; notes how many came, at which places, and the counts."""
        self.at += timedelta(seconds=1)
        lease_next(context=self.context, count=count, at=self.at)
        pairs = list_leased_pairs(self.context)
        ids = [pair.assignment for pair in pairs]
        self.shown += [one for one in ids if one not in self.shown]
        self.names += [pair.name for pair in pairs if pair.name not in self.names]
        places = dict(Assignment.objects.filter(public_id__in=ids).values_list("public_id", "pair"))
        self.see("next", [places[one] for one in ids], [pair.query_done for pair in pairs])
        return len(pairs)

    def see(self, *what: Any) -> None:
        progress = count_progress(self.context)
        own = list_own_labels(self.context, limit=200)
        named = [self.names.index(one.pair.name) for one in own]
        self.seen.append((*what, progress.done, progress.left, named))

    def label(self, place: int, grade: int | None = 3, **fields: Any) -> Receipt | None:
        """Label what was shown as the how many-th; notes the receipt."""
        if not self.shown:
            return None
        self.at += timedelta(seconds=1)
        seat = Assignment.objects.get(public_id=self.shown[place % len(self.shown)])
        submission = said(seat=seat, grade=grade, at=self.at, **fields)
        return self.send(submission)

    def send(self, submission: Submission) -> Receipt | None:
        try:
            receipt = submit_label(context=self.context, submission=submission, at=self.at)
        except LabelRefused as error:
            self.see("refused", error.code)
            return None
        self.sent.append(submission)
        self.see("label", receipt.is_surplus, receipt.is_repeat)
        return receipt

    def release(self, some: slice = slice(None)) -> None:
        held = [pair.assignment for pair in list_leased_pairs(self.context)][some]
        self.see("release", release_leases(context=self.context, assignments=held))

    def work(self) -> None:
        """What a worker does after commit."""
        check_labels(list_id=self.campaign.list_id, at=self.at)
        consolidate(list_id=self.campaign.list_id, at=self.at + timedelta(hours=1))


def fill(campaign: Campaign, pair_id: int) -> None:
    """Let others take the free seats of a pair, and label it."""
    pair = campaign.pairs.get(pk=pair_id)
    seats = list(
        pair.assignments.exclude(state="voided").values_list("annotator__username", flat=True)
    )
    free, taken = sum(name is None for name in seats), set(seats)
    for name in [name for name in OTHERS if name not in taken][:free]:
        label(pair=pair, username=name, grade=2)


def seen_with(
    campaign: Campaign, ada: Access, steps: Callable[[Person], None], gold: int, secret: str = ""
) -> Person:
    """What is seen along the steps with so much gold; nothing of it is kept in the database."""
    with transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(secret=secret)
        change_checks(access=ada, campaign=campaign, at=NOW, gold_percent=gold)
        person = Person(Campaign.objects.get(pk=campaign.pk))
        steps(person)
        labels_qs = Label.objects.filter(annotator=person.context.viewer, pair__gold__isnull=False)
        person.gold = labels_qs.count()
        seats_qs = Assignment.objects.filter(annotator=person.context.viewer)
        person.planted = seats_qs.filter(stand_in__isnull=False).count()
        transaction.set_rollback(True)
    return person


def assert_alike(
    campaign: Campaign, ada: Access, steps: Callable[[Person], None], least: int = 0
) -> Person:
    """The same is seen with gold, of which at least so many pairs are met, and without any."""
    plain = seen_with(campaign, ada, steps, 0)
    # what was replaced comes once the order is used up
    end = next((n for n, one in enumerate(plain.seen) if not one[-2]), len(plain.seen))
    for secret in "abcdefghij":  # it decides, with ids that no test knows, where gold is met
        planted = seen_with(campaign, ada, steps, 30, secret)
        assert plain.seen[:end] == planted.seen[:end]
        if planted.planted >= least:
            return planted
    raise AssertionError(f"none of the secrets makes these steps meet {least} gold pairs")


@both_orders
def test_no_count_shows_what_a_larger_one_does_not(check: Check, ada: Access, order: str) -> None:
    """Release, then next?count=k for several k: every answer begins a larger one."""
    campaign = check(order=order, overlap=2)
    change_checks(access=ada, campaign=campaign, at=NOW, gold_percent=30)
    person = Person(Campaign.objects.get(pk=campaign.pk))
    whole: list[int] = []
    answers = []
    for count in (1, 2, 3, 5, 8, 11, 12, 13, 18, 24):
        person.next(count)
        answers.append(person.seen[-1][1])
        person.release()
    whole = answers[-1]
    assert all(answer == whole[: len(answer)] for answer in answers)


@both_orders
def test_an_answer_is_never_longer_than_its_count(check: Check, ada: Access, order: str) -> None:
    campaign = check(order=order, overlap=2)

    def steps(person: Person) -> None:
        for count in (1, 2, 5, 9, 20):
            assert person.next(count) == count
            person.release()

    assert_alike(campaign, ada, steps)


@both_orders
def test_late_labels_are_surplus_where_those_of_plain_pairs_are(
    check: Check, ada: Access, order: str
) -> None:
    campaign = check(order=order)

    def steps(person: Person) -> None:
        person.next(12)
        places = person.seen[-1][1]
        person.release()
        for place in places[::2]:
            fill(campaign, place)
        for number in range(12):
            person.label(number)
        person.work()
        for submission in list(person.sent):
            person.send(submission)

    planted = assert_alike(campaign, ada, steps, least=2)
    labels = [one for one in planted.seen if one[0] == "label"]
    assert [one[1] for one in labels] == [True, False] * 6 * 2
    assert [one[2] for one in labels] == [False] * 12 + [True] * 12


@both_orders
def test_counts_move_with_gold_as_with_other_pairs(check: Check, ada: Access, order: str) -> None:
    campaign = check(order=order, overlap=2)

    def steps(person: Person) -> None:
        while person.next(5):
            for number in range(len(person.sent), len(person.shown)):
                person.label(number)

    planted = assert_alike(campaign, ada, steps)
    assert planted.gold > 5
    done, left = zip(*[one[-3:-1] for one in planted.seen], strict=True)
    assert {a + b for a, b in zip(done[:38], left[:38], strict=True)} == {32}


@both_orders
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(one, marks=pytest.mark.long) for one in (1, 2, 3))]
)
def test_whatever_is_done_gold_is_met_as_plain_pairs_are(
    check: Check, ada: Access, order: str, seed: int
) -> None:
    """A random sequence of asking, labelling, late labels, taking back, giving back, skipping, and
    of what others and workers do: the same is seen with and without gold."""
    campaign = check(order=order, overlap=1 + seed % 2)
    plain = sorted(campaign.pairs.filter(gold=None).values_list("pk", flat=True))

    def steps(person: Person) -> None:
        dice = random.Random(seed)
        for _ in range(35):
            _step(person, plain, dice)

    assert_alike(campaign, ada, steps, least=3)


def _step(person: Person, plain: list[int], dice: random.Random) -> None:
    """One random step; as many dice are thrown whatever it is."""
    ways: dict[str, Callable[[], object]] = {
        "next": lambda: person.next(count),
        "label": lambda: person.label(-1 - number % 6),
        "unsure": lambda: person.label(-1 - number % 6, None),
        "retract": lambda: person.label(number, None, outcome=RETRACTED),
        "again": lambda: person.send(person.sent[number % len(person.sent)]),
        "release": lambda: person.release(slice(0, int(20 * size))),
        "others": lambda: list(map(partial(fill, person.campaign), places)),
        "skip": lambda: _skip(person, number, returns=size < 0.7),
        "expire": lambda: release_expired(at=person.at + LONG, campaign=person.campaign),
        "work": person.work,
    }
    number, count, size = dice.randrange(1_000), dice.randrange(1, 20), dice.random()
    places = dice.sample(plain, 4)
    (kind,) = dice.choices(list(ways), weights=(5, 8, 1, 2, 1, 2, 2, 1, 1, 2))
    if kind in {"again", "skip"} and not person.sent:
        return
    ways[kind]()
    person.see(kind)


def _skip(person: Person, number: int, *, returns: bool) -> None:
    seat = person.shown[number % len(person.shown)]
    skipped = skip_query(context=person.context, assignment=seat, reason="unclear", at=person.at)
    person.see("skipped", len(skipped.released))
    if returns:
        return_skip(context=person.context, skip_id=skipped.skip.public_id, at=person.at)


def begin(campaign: Campaign, ada: Access, percent: int = 30) -> Person:
    change_checks(access=ada, campaign=campaign, at=NOW, gold_percent=percent)
    return Person(Campaign.objects.get(pk=campaign.pk))


def held_stand_in(person: Person) -> Assignment:
    """A place that shows gold to someone now."""
    while True:
        assert person.next(1)
        found = Assignment.objects.filter(
            annotator=person.context.viewer, state="leased", stand_in__isnull=False
        )
        seat = found.select_related("stand_in").first()
        if seat is not None:
            return seat
        person.label(-1)


def test_a_stand_in_holds_the_seat_of_the_pair_it_replaces_until_it_is_labelled(
    check: Check, ada: Access
) -> None:
    campaign = check()
    person = begin(campaign, ada)
    seat = held_stand_in(person)
    assert seat.stand_in is not None
    assert seat.stand_in.replaced is not None
    replaced = seat.stand_in.replaced
    assert [one.state for one in replaced.assignments.all()] == ["leased"]
    (shown,) = list_leased_pairs(person.context)
    gold = campaign.pairs.select_related("document").get(pk=seat.stand_in.shown_id or 0)
    assert (shown.assignment, shown.title) == (seat.public_id, gold.document.title)
    person.label(-1, 2)
    seat.refresh_from_db()
    assert (seat.pair_id, seat.purpose, seat.state) == (gold.pk, "gold", "done")
    stored = Label.objects.get(assignment=seat)
    assert (stored.pair_id, stored.grade) == (gold.pk, 2)
    person.work()
    assert [one.state for one in replaced.assignments.all()] == ["free"]
    assert stored.gold_check.error == -2


def test_a_replaced_pair_comes_at_the_very_end_under_an_id_that_was_never_shown(
    check: Check, ada: Access
) -> None:
    campaign = check()
    person = begin(campaign, ada)
    met: list[tuple[int | None, str]] = []
    while person.next(7):
        for pair in list_leased_pairs(person.context):
            seat = Assignment.objects.get(public_id=pair.assignment)
            met.append((seat.stand_in_id, pair.name))
            person.label(person.shown.index(pair.assignment))
        person.work()
    planted = [stand_in for stand_in, _ in met if stand_in is not None]
    assert len(planted) > 5
    assert len(met) == 32 + len(planted)  # each place once, and then what was replaced
    assert len({name for _, name in met}) == len(met)
    assert all(stand_in is None for stand_in, _ in met[32:])
    replaced = StandIn.objects.filter(pk__in=planted).values_list("replaced", flat=True)
    last = Label.objects.order_by("-received_at")[: len(planted)].values_list("pair", flat=True)
    assert set(last) == set(replaced)
    assert len(set(person.shown)) == len(met)


def test_a_label_under_an_old_id_is_one_of_what_was_shown_under_it(
    check: Check, ada: Access
) -> None:
    campaign = check()
    person = begin(campaign, ada)
    seat = held_stand_in(person)
    assert seat.stand_in is not None
    release_leases(context=person.context)
    person.next(1)  # the same place again, under another id
    (again,) = list_leased_pairs(person.context)
    assert again.assignment != seat.public_id
    receipt = person.send(said(seat=seat, grade=1, at=person.at))
    assert receipt is not None
    assert not receipt.is_surplus
    stored = Label.objects.get(pk=receipt.id)
    assert stored.pair_id == seat.stand_in.shown_id
    assert stored.assignment is not None
    assert stored.assignment.public_id == again.assignment
    assert list_leased_pairs(person.context) == []


def test_a_label_of_gold_that_is_taken_back_can_be_given_back_like_any_other(
    check: Check, ada: Access
) -> None:
    campaign = check()
    person = begin(campaign, ada)
    seat = held_stand_in(person)
    assert seat.stand_in is not None
    person.label(-1)
    person.work()
    assert seat.stand_in.replaced is not None
    fill(campaign, seat.stand_in.replaced.pk)  # meanwhile another has labelled the replaced pair
    person.label(-1, None, outcome=RETRACTED)
    (shown,) = list_leased_pairs(person.context)
    assert shown.assignment == seat.public_id
    release_leases(context=person.context)
    person.next(1)
    (again,) = list_leased_pairs(person.context)
    assert (again.name, again.title) == (shown.name, shown.title)
    person.label(-1)
    person.work()
    states = Assignment.objects.filter(pair=seat.stand_in.replaced_id).values_list("state")
    assert "free" not in {state for (state,) in states}  # no label more than the overlap


@pytest.mark.parametrize(
    ("documents", "percent", "order"),
    [
        (10, 5, Campaign.Order.SHUFFLED),
        (25, 10, Campaign.Order.BY_QUERY),
        pytest.param(10, 5, Campaign.Order.BY_QUERY, marks=pytest.mark.long),
        pytest.param(25, 10, Campaign.Order.SHUFFLED, marks=pytest.mark.long),
        pytest.param(25, 5, Campaign.Order.BY_QUERY, marks=pytest.mark.long),
        pytest.param(25, 5, Campaign.Order.SHUFFLED, marks=pytest.mark.long),
    ],
)
def test_the_share_of_gold_comes_out_right_for_queries_of_any_size(
    order: str, documents: int, percent: int
) -> None:
    world = make_world(slug="films", queries=12, documents=documents)
    ada = make_access(collection=world.collection)
    for name in OTHERS:
        make_member(collection=world.collection, username=name, role="annotator")
    campaign = make_campaign(world=world, people=OTHERS, overlap=8, order=order)
    gold = [pair for pair in campaign.pairs.order_by("pk") if pair.pk % 5 == 0]
    for pair in gold:
        mark_gold(access=ada, pair=pair, low=4, high=4, reason="", at=NOW)
    change_checks(access=ada, campaign=campaign, at=NOW, gold_percent=percent)
    plain = campaign.pairs.count() - len(gold)
    for name in OTHERS:
        while lease_next(context=context_of(campaign, name), count=60, at=NOW):
            held = Assignment.objects.filter(annotator__username=name, state="leased")
            held.update(state="done", leased_until=None)
    planted = StandIn.objects.filter(campaign=campaign).exclude(replaced=None)
    wanted = len(OTHERS) * plain * percent / 100
    assert abs(planted.count() - wanted) < 4.5 * (len(OTHERS) * 12 * 0.25) ** 0.5
    rows = planted.values_list("annotator", "query", "replaced__query", "shown__query")
    assert all(query == of == shown for _, query, of, shown in rows)
    by_person: dict[int, set[tuple[Any, ...]]] = {}
    for person, *pairs in planted.values_list("annotator", "replaced", "shown"):
        by_person.setdefault(person, set()).add(tuple(pairs))
    # one draw in five hundred plants nothing for a person
    assert len(by_person) >= len(OTHERS) - 2
    assert len({frozenset(own) for own in by_person.values()}) == len(by_person)


def test_what_was_drawn_for_somebody_stays_whatever_is_added_or_marked(
    check: Check, ada: Access
) -> None:
    campaign = check(overlap=2)
    person = begin(campaign, ada, 20)
    person.next(30)
    drawn = list(StandIn.objects.values_list("query", "replaced", "shown"))
    release_leases(context=person.context)
    fresh = campaign.pairs.select_related("campaign__list").filter(gold=None)
    replaced = [pair for _, pair, _ in drawn if pair is not None]
    for pair in fresh.exclude(pk__in=replaced)[:6]:
        mark_gold(access=ada, pair=pair, low=4, high=4, reason="", at=NOW)
    person.next(26)
    assert list(StandIn.objects.values_list("query", "replaced", "shown"))[: len(drawn)] == drawn
    assert StandIn.objects.filter(replaced=None).count() == 4


def test_nobody_draws_who_has_another_secret(check: Check, ada: Access) -> None:
    campaign = check(overlap=2)
    drawn = []
    for secret in ("a" * 64, "b" * 64):
        Campaign.objects.filter(pk=campaign.pk).update(secret=secret)
        with transaction.atomic():
            begin(campaign, ada).next(30)
            drawn.append(set(StandIn.objects.values_list("replaced", "shown")))
            transaction.set_rollback(True)
    assert drawn[0] != drawn[1]


def test_retired_gold_is_shown_no_more_and_the_place_is_itself_again(
    check: Check, ada: Access
) -> None:
    campaign = check(overlap=2)
    person = begin(campaign, ada)
    seat = held_stand_in(person)
    assert seat.stand_in is not None
    release_leases(context=person.context)
    items = campaign.gold.select_related("campaign", "pair__query", "pair__document")
    retire_gold(access=ada, item=items.get(pair=seat.stand_in.shown_id), at=NOW)
    person.next(20)
    held_qs = Assignment.objects.filter(annotator=person.context.viewer, state="leased")
    assert held_qs.get(pair=seat.stand_in.replaced_id).stand_in_id is None


def test_gold_that_was_leased_before_there_were_stand_ins_is_still_labelled(
    check: Check, ada: Access
) -> None:
    campaign = check(overlap=2)
    gold = campaign.pairs.filter(gold__isnull=False)[0]
    ben = User.objects.get(username="ben")
    seats = [
        Assignment.objects.create(
            pair=gold, seat=1_000, purpose="gold", state=state, annotator=ben,
            leased_until=NOW + timedelta(minutes=9) if state == "leased" else None,
        )
        for state in ("voided", "leased")
    ]  # fmt: skip
    person = Person(campaign)
    (shown,) = list_leased_pairs(person.context)
    assert shown.assignment == seats[1].public_id
    person.shown += [one.public_id for one in seats]
    person.names.append(shown.name)
    assert person.label(1) is not None
    assert check_labels(list_id=campaign.list_id, at=NOW) == 1
    assert person.label(0, 4) is not None  # late, under the id that was given back
    assert check_labels(list_id=campaign.list_id, at=NOW) == 1
