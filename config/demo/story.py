"""What has happened in the demo's campaign before it is first opened: ten days of a small team.

The two readings of `grades.tsv` and `drawn_grades.tsv` are real judgments. The third annotator is
made up, and named so; so is the pace at which everyone labels. README.md beside this file says what
is what.
"""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final, NamedTuple

from django.db.models import Max, Min
from django.db.models.functions import Length

from annotation.adjudication.services import adjudicate
from annotation.campaigns.services import add_annotators, create_campaign, open_campaign
from annotation.consolidation.services import consolidate
from annotation.gold.checking import check_labels
from annotation.gold.services import change_checks, mark_gold
from annotation.guidelines.services import create_guideline, revise_guideline
from annotation.imports.files import GivenLabel, GivenLabels
from annotation.imports.services import import_labels
from annotation.labelling.leasing import MOST, lease_next, release_leases
from annotation.labelling.services import submit_label
from annotation.labelling.shown_pairs import list_leased_pairs
from annotation.labelling.submissions import Submission
from annotation.models import Assignment, Campaign, Guideline, Pair, Pool, Question
from annotation.permissions import get_annotator_context
from annotation.pooling.services import add_pairs
from annotation.quality.services import refresh_quality
from annotation.questions.queries import get_thread_page
from annotation.questions.services import announce, answer, ask, mark_read
from annotation.seats.ordering import Order
from config.demo.grades import DRAWN_FILE, DemoGrades
from config.demo.guideline import LATER, general_text, grade_words
from config.demo.people import People
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import Run
from evaluation.runs.queries import list_ranked_documents
from judgments.collections.queries import map_documents, map_queries
from judgments.lists.services import release_version
from judgments.models import Document, JudgmentList, Query, User
from judgments.permissions import Access
from judgments.storage.bulk import analyse
from touchstone.pooling.pools import Pair as PairIds
from touchstone.pooling.pools import Pool as Drawn
from touchstone.pooling.pools import Ranked, depth_k_pool

CAMPAIGN: Final = "First round"
RELEASE: Final = "first-round"
DEPTH: Final = 10
# Queries for which only the first reading is entered: the demo's annotator gives the second
# label there, so that a key press completes a pair and moves the leaderboard.
HALF_READ: Final = 6
# Queries whose second label is the third annotator's, not the second reading's.
CARELESS: Final = 7
STARTS: Final = 2  # with so many half-read queries the demo's annotator begins
GOLD: Final = 3  # pairs of a query
GOLD_PERCENT: Final = 15
REPEAT_PERCENT: Final = 5
SLIPS: Final = (0.55, 0.85)  # up to the first: as the reading has it; to the second: a step beside
DECIDED: Final = 5
PACE: Final = timedelta(seconds=9)
GOLD_REASON: Final = "Both readings gave this grade; it follows from the guideline's words."
DECISION: Final = "Read again beside the guideline: {} is what the definition says."
ASKED: Final = "One line, but it is the right function. Is that enough for a {}?"
ANSWERED: Final = "Yes. A text of one line that is unmistakably the right function is at least {}."
STILL_ASKED: Final = "It is one step of several, so I gave it a {}. Would you say it is less?"
ANNOUNCED: Final = (
    "The guideline has a second revision. A deprecated function that does what is asked still "
    "counts, one grade lower; and there is a new example."
)
SHORT: Final = 400  # characters of a text that may be asked about
NOTES: Final = "First round: two labels a pair, disagreements of two grades or more adjudicated."

Grades = Mapping[PairIds, int]


@dataclass(frozen=True)
class Stage:
    """What the campaign is built on. at: when the story ends. runs: with their rankers."""

    at: datetime
    people: People
    lead: Access
    judgment_list: JudgmentList
    runs: list[Run]

    def days_ago(self, days: int) -> datetime:
        """That many days before the story ends."""
        return self.at - timedelta(days=days)


@dataclass(frozen=True)
class Shares:
    """The pool's pairs by who labels them, and what they say. rest: no one has read them yet.

    sampled: the queries that were drawn for people.
    """

    both: Drawn
    careless: Drawn
    once: Drawn
    rest: Drawn
    sampled: Collection[int]
    first: Grades
    second: Grades
    third: Grades


class Example(NamedTuple):
    """An answer as an example of a grade."""

    grade: int
    text: str


def tell(
    stage: Stage, grades: DemoGrades, *, sampled: Collection[int], imported: DemoGrades
) -> Campaign:
    """The campaign, with its labels, versions and a release. grades: those that fit here.

    sampled: the queries (pk) that were drawn for people. imported: the grades of those among them
    that no one has labelled in the campaign.
    """
    shares = _shares(stage, grades, sampled)
    people, lead = stage.people, stage.lead
    guideline = _guideline(stage, at=stage.days_ago(9))
    campaign = _campaign(stage, guideline, shares)
    _add(campaign, shares.both, stage, at=stage.days_ago(9))
    _mark_gold(stage, campaign, shares, at=stage.days_ago(9))
    open_campaign(access=lead, campaign=campaign, at=stage.days_ago(9))
    campaign.refresh_from_db()
    analyse()
    _enter(people.first, campaign, shares.first, stage.days_ago(9))
    _enter(people.second, campaign, shares.second, stage.days_ago(8), most=len(shares.both) // 2)
    _commit(stage, stage.days_ago(7))
    _enter(people.second, campaign, shares.second, stage.days_ago(7))
    _commit(stage, stage.days_ago(6))
    example = _ask_and_answer(stage, campaign, shares, at=stage.days_ago(7))
    _revise(stage, guideline, example, at=stage.days_ago(6))
    _announce(stage, campaign, at=stage.days_ago(6))
    _add(campaign, shares.careless, stage, at=stage.days_ago(5))
    _mark_gold(stage, campaign, shares, at=stage.days_ago(5))
    _enter(people.first, campaign, shares.first, stage.days_ago(5))
    _enter(people.third, campaign, shares.third, stage.days_ago(4))
    _commit(stage, stage.days_ago(3))
    _adjudicate(stage, campaign, shares, at=stage.days_ago(3))
    _release(stage, campaign, at=stage.days_ago(2))
    _add(campaign, shares.once, stage, at=stage.days_ago(1))
    _enter(people.first, campaign, shares.first, stage.days_ago(1))
    _import(stage, campaign, imported, at=stage.days_ago(1))
    _add(campaign, shares.rest, stage, at=stage.days_ago(1))
    _ask(people.first, campaign, shares.once, shares, grade=2, words=STILL_ASKED, at=stage.at)
    _commit(stage, stage.at)
    refresh_quality(campaign_id=campaign.pk, clock=lambda: stage.at)
    return campaign


def _shares(stage: Stage, grades: DemoGrades, sampled: Collection[int]) -> Shares:
    collection = stage.lead.collection
    qids, docids = map_queries(collection=collection), map_documents(collection=collection)
    read = {(qids[one.qid], docids[one.docid]): one for one in grades.used}
    others = sorted({query for query, _ in read} - set(sampled))
    once, careless = set(others[:HALF_READ]), set(others[HALF_READ : HALF_READ + CARELESS])
    drawn = _draw(stage.runs)

    def of(chosen: Collection[int]) -> Drawn:
        return {pair: drawn[pair] for pair in drawn if pair in read and pair[0] in chosen}

    return Shares(
        both=of({query for query, _ in read} - once - careless),
        careless=of(careless),
        once=of(once),
        rest={pair: drawn[pair] for pair in drawn if pair not in read and pair[0] not in sampled},
        sampled=sampled,
        first={pair: one.first for pair, one in read.items()},
        second={pair: one.second for pair, one in read.items()},
        third={pair: _slipping(one.second, f"{one.qid} {one.docid}") for pair, one in read.items()},
    )


def _slipping(grade: int, of: str) -> int:
    """What an annotator of middling care makes of a grade, the same on every machine."""
    chance = Random(of)  # noqa: S311
    drawn = chance.random()
    if drawn < SLIPS[0]:
        return grade
    if drawn < SLIPS[1]:
        return min(4, max(0, grade + chance.choice((-1, 1))))
    return chance.randrange(5)


def _draw(runs: list[Run]) -> Drawn:
    named = {run.pk: (run.ranker.slug, run.name) for run in runs}
    ranked = (
        Ranked(*named[one.run_id], one.query_id, one.document_ids)
        for one in list_ranked_documents(run_ids=named, depth=DEPTH)
    )
    return depth_k_pool(ranked, depth=DEPTH)


def _guideline(stage: Stage, *, at: datetime) -> Guideline:
    return create_guideline(
        access=stage.lead,
        at=at,
        judgment_list=stage.judgment_list,
        name="Is this what the asker needs?",
        text=general_text().replace(LATER, ""),
        grades=[words.as_json() for words in grade_words()],
    )


def _revise(stage: Stage, guideline: Guideline, example: Example | None, *, at: datetime) -> None:
    """The sentence that came later, and the answer to a question as an example."""
    words = grade_words()
    for one in words:
        if example and one.code == example.grade:
            one.examples.append(example.text)
    revise_guideline(
        access=stage.lead,
        at=at,
        guideline=guideline,
        judgment_list=stage.judgment_list,
        text=general_text(),
        grades=[one.as_json() for one in words],
    )


def _ask(
    person: User,
    campaign: Campaign,
    drawn: Drawn,
    shares: Shares,
    *,
    grade: int,
    words: str,
    at: datetime,
) -> Question | None:
    """A question about the first short document that the person gave this grade; None without."""
    pairs = {key for key in drawn if shares.first.get(key) == grade}
    seats_qs = Assignment.objects.filter(
        annotator=person,
        pair__campaign=campaign,
        purpose=Assignment.Purpose.POOL,
        state=Assignment.State.DONE,
        pair__gold=None,
    )
    seats_qs = seats_qs.annotate(size=Length("pair__document__body")).filter(size__lte=SHORT)
    for seat in seats_qs.select_related("pair").order_by("size", "pair"):
        if (seat.pair.query_id, seat.pair.document_id) in pairs:
            context = get_annotator_context(viewer=person, campaign_id=campaign.public_id)
            text = words.format(grade)
            return ask(context=context, assignment=seat.public_id, text=text, at=at)
    return None


def _ask_and_answer(
    stage: Stage, campaign: Campaign, shares: Shares, *, at: datetime
) -> Example | None:
    """A question that the lead answers, as an example for the guideline."""
    grade = 3
    asked = _ask(stage.people.first, campaign, shares.both, shares, grade=grade, words=ASKED, at=at)
    if asked is None:
        return None
    named: dict[str, Any] = {"campaign": campaign, "question_id": asked.public_id}
    at += timedelta(hours=2)
    answer(access=stage.lead, **named, text=ANSWERED.format(grade), at=at)
    page = get_thread_page(access=stage.lead, **named)
    context = get_annotator_context(viewer=stage.people.first, campaign_id=campaign.public_id)
    read = {asked.public_id: len(page.thread.messages)}
    mark_read(context=context, questions=read, at=at + timedelta(hours=1))
    return Example(grade, page.example)


def _announce(stage: Stage, campaign: Campaign, *, at: datetime) -> None:
    """Tell everyone of the second revision; two of them have read it."""
    made = announce(access=stage.lead, campaign=campaign, text=ANNOUNCED, at=at)
    for person in (stage.people.first, stage.people.second):
        context = get_annotator_context(viewer=person, campaign_id=campaign.public_id)
        mark_read(context=context, announcements=[made.pk], at=at + timedelta(hours=1))


def _campaign(stage: Stage, guideline: Guideline, shares: Shares) -> Campaign:
    people = stage.people
    campaign = create_campaign(
        access=stage.lead,
        at=stage.days_ago(9),
        seed=_seed(people.annotator, shares),
        judgment_list=stage.judgment_list,
        guideline=guideline,
        name=CAMPAIGN,
        overlap=2,
        depth=DEPTH,
        rule=Campaign.Rule.MEAN,
    )
    everyone = [people.annotator, people.first, people.second, people.third]
    add_annotators(access=stage.lead, campaign=campaign, people=everyone, at=stage.days_ago(9))
    change_checks(
        access=stage.lead,
        campaign=campaign,
        at=stage.days_ago(9),
        gold_percent=GOLD_PERCENT,
        repeat_percent=REPEAT_PERCENT,
    )
    return campaign


def _seed(annotator: User, shares: Shares) -> int:
    """The first seed whose order lets the annotator begin where one label completes a pair."""
    half_read = {query for query, _ in shares.once}
    everything = shares.both | shares.careless | shares.once | shares.rest
    queries = sorted({query for query, _ in everything})
    wanted = min(STARTS, len(half_read))
    for seed in range(100_000):
        order = Order(seed=seed, annotator=annotator.pk, query_by_query=True)
        if set(order.sort_chunks(queries)[:wanted]) <= half_read:
            return seed
    return 0


def _add(campaign: Campaign, drawn: Drawn, stage: Stage, *, at: datetime) -> None:
    if not drawn:
        return
    pool = Pool(
        campaign=campaign,
        strategy=Pool.Strategy.DEPTH_K,
        depth=DEPTH,
        seed=0,
        runs=[{"ranker": run.ranker.slug, "run": run.name} for run in stage.runs],
        created_at=at,
        created_by=stage.people.lead,
    )
    add_pairs(campaign=campaign, pool=pool, drawn=drawn)


def _mark_gold(stage: Stage, campaign: Campaign, shares: Shares, *, at: datetime) -> None:
    """Some pairs of each query on which both readings agree, the most relevant ones and others.

    None of a sampled query: gold is no judgment, and these are to be judged completely.
    """
    plain_qs = campaign.pairs.filter(gold=None).exclude(query__in=shares.sampled)
    plain_qs = plain_qs.order_by("query", "document")
    agreed: dict[int, list[Pair]] = {}
    for pair in plain_qs.select_related("campaign"):
        key = (pair.query_id, pair.document_id)
        if shares.first.get(key) == shares.second.get(key) is not None:
            agreed.setdefault(pair.query_id, []).append(pair)
    done = set(campaign.pairs.exclude(gold=None).values_list("query", flat=True))
    for query in sorted(agreed.keys() - done):
        by_grade = sorted(
            agreed[query], key=lambda pair: -shares.first[pair.query_id, pair.document_id]
        )
        step = max(1, len(by_grade) // GOLD)
        for pair in by_grade[::step][:GOLD]:
            grade = shares.first[pair.query_id, pair.document_id]
            mark_gold(
                access=stage.lead, pair=pair, low=grade, high=grade, reason=GOLD_REASON, at=at
            )


def _enter(
    person: User, campaign: Campaign, grades: Grades, begins: datetime, *, most: int = 100_000
) -> None:
    """Enter a person's grades as labels, in the order in which the pairs are offered."""
    context = get_annotator_context(viewer=person, campaign_id=campaign.public_id)
    revision = campaign.guideline.revisions.count()
    by_text = _by_text(grades)
    done = 0
    while done < most and lease_next(context=context, count=MOST, at=begins + done * PACE):
        for shown in list_leased_pairs(context):
            done += 1
            at = begins + done * PACE
            submission = Submission(
                id=uuid.uuid4(),
                assignment=shown.assignment,
                guideline_revision=revision,
                made_at=at,
                grade=by_text[shown.query_text, shown.content_hash],
                content_hash=shown.content_hash,
                seconds=PACE.total_seconds() * Random(f"{done}").uniform(0.4, 1.0),  # noqa: S311
            )
            submit_label(context=context, submission=submission, at=at)
    release_leases(context=context)


def _import(stage: Stage, campaign: Campaign, imported: DemoGrades, *, at: datetime) -> None:
    """Both readings of the drawn queries that the campaign did not have, from a file."""
    labels = [
        GivenLabel(line, one.qid, one.docid, person.username, grade, at, None, "")
        for line, (one, person, grade) in enumerate(
            (
                (one, person, grade)
                for one in imported.used
                for person, grade in (
                    (stage.people.first, one.first),
                    (stage.people.second, one.second),
                )
            ),
            start=2,
        )
    ]
    import_labels(
        access=stage.lead,
        judgment_list=stage.judgment_list,
        given=GivenLabels(DRAWN_FILE.name, labels),
        campaign_name=campaign.name,
        names={},
        create=False,
        seed=0,
        at=at,
    )


def _by_text(grades: Grades) -> dict[tuple[str, str], int]:
    """The grades by what an annotator sees of a pair, which is not its ids."""
    texts = dict(Query.objects.filter(pk__in={q for q, _ in grades}).values_list("pk", "text"))
    documents = Document.objects.filter(pk__in={d for _, d in grades})
    hashes = dict(documents.values_list("pk", "content_hash"))
    return {(texts[query], hashes[doc]): grade for (query, doc), grade in grades.items()}


def _commit(stage: Stage, at: datetime) -> None:
    """What a worker does after labels: checks, consolidation, evaluation."""
    check_labels(list_id=stage.judgment_list.pk, at=at)
    consolidate(list_id=stage.judgment_list.pk, at=at)
    refresh_evaluations(list_id=stage.judgment_list.pk, at=at)


def _adjudicate(stage: Stage, campaign: Campaign, shares: Shares, *, at: datetime) -> None:
    """Decide the widest disagreements as the second reading has them; the others are left."""
    complete_qs = campaign.pairs.filter(state=Pair.State.COMPLETE)
    spread = Max("labels__grade") - Min("labels__grade")
    widest = complete_qs.annotate(spread=spread).order_by("-spread", "pk")[:DECIDED]
    for number, pair in enumerate(widest):
        grade = shares.second[pair.query_id, pair.document_id]
        adjudicate(
            access=stage.lead,
            pair=pair,
            grade=grade,
            reason=DECISION.format(grade),
            at=at + number * timedelta(minutes=4),
        )
    refresh_evaluations(list_id=stage.judgment_list.pk, at=at + timedelta(minutes=30))


def _release(stage: Stage, campaign: Campaign, *, at: datetime) -> None:
    refresh_quality(campaign_id=campaign.pk, clock=lambda: at)
    stage.judgment_list.refresh_from_db()
    release_version(
        access=stage.lead,
        at=at,
        judgment_list=stage.judgment_list,
        number=stage.judgment_list.head,
        name=RELEASE,
        notes=NOTES,
        accept_quality=True,
    )
