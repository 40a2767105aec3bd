"""The demo workspace: real documents, runs and judgments, through the same doors as yours."""

import io
import secrets
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction

from annotation.campaigns.services import add_annotators, create_campaign, open_campaign
from annotation.consolidation.services import consolidate
from annotation.guidelines.services import create_guideline
from annotation.labelling.leasing import MOST, lease_next, release_leases
from annotation.labelling.services import submit_label
from annotation.labelling.shown_pairs import list_leased_pairs
from annotation.labelling.submissions import Submission
from annotation.models import Campaign, Guideline, Pool
from annotation.permissions import Desk, get_desk
from annotation.pooling.services import add_pairs
from annotation.seats.ordering import Order
from config.demo.corpus import DemoDocument, standard_library
from config.demo.grades import DemoGrades, demo_grades
from config.demo.guideline import general_text, grade_words
from config.demo.inverted_index import inverted_index
from config.demo.queries import QUERIES
from config.demo.rankers import RANKERS, run_lines
from evaluation.evaluations.refreshing import refresh_evaluations
from evaluation.models import Run
from evaluation.runs.queries import list_ranked_documents
from evaluation.runs.rankers import create_ranker
from evaluation.runs.services import import_run
from judgments.collections.queries import map_documents, map_queries
from judgments.collections.services import create_collection, load_documents, load_queries
from judgments.lists.services import create_list
from judgments.members.services import add_member
from judgments.models import Collection, Document, JudgmentList, Query, Role, User
from judgments.permissions import Access, get_access
from judgments.storage.bulk import analyse
from touchstone.files.collections import DocumentRecord, QueryRecord
from touchstone.pooling.pools import Pair, Ranked, depth_k_pool
from touchstone.pooling.pools import Pool as Drawn
from touchstone.scales import Scale

SLUG: Final = "python"
LIST: Final = "main"
CAMPAIGN: Final = "First round"
DEPTH: Final = 10
# Queries for which only the first reading is entered: whoever labels in the demo is the second
# there, so that a key press completes a pair and moves the leaderboard.
HALF_READ: Final = 6
STARTS: Final = 2  # with so many of them the demo's annotator begins

Say = Callable[[str], None]


@dataclass(frozen=True)
class SignIn:
    """Somebody who may sign in, with the password that is shown once."""

    role: str
    username: str
    password: str


@dataclass(frozen=True)
class Workspace:
    """What was built. skipped: shipped grades whose document this Python words differently."""

    sign_ins: tuple[SignIn, ...]
    documents: int
    queries: int
    runs: int
    pairs: int
    grades: int
    skipped: int


@dataclass(frozen=True)
class People:
    """The demo's cast. The two readings have no password: nobody signs in as them."""

    lead: User
    researcher: User
    annotator: User
    readings: tuple[User, User]


def is_built() -> bool:
    """Whether the workspace is there already."""
    return Collection.objects.filter(slug=SLUG).exists()


def build_workspace(*, at: datetime, say: Say) -> Workspace:
    """Build everything that the demo shows; all or nothing.

    at: the time that everything carries. say: told each step in plain words.
    """
    with transaction.atomic():
        return _build(at, say)


@dataclass(frozen=True)
class _Scene:
    """What the campaign is built on."""

    at: datetime
    people: People
    lead: Access
    judgment_list: JudgmentList
    runs: list[Run]


def _build(at: datetime, say: Say) -> Workspace:
    documents = standard_library()
    say(f"read {len(documents):,} documents of this machine's own Python")
    sign_ins, people = _people()
    scene = _scene(people, documents, at)
    say(f"ranked {len(QUERIES)} questions with {len(scene.runs)} rankers and imported their runs")
    grades = demo_grades(documents)
    campaign = _label(scene, grades)
    say(f"entered {len(grades.used):,} pairs that were read twice ({grades.skipped} skipped)")
    consolidate(list_id=scene.judgment_list.pk, at=at)
    refresh_evaluations(list_id=scene.judgment_list.pk, at=at)
    return Workspace(
        sign_ins=sign_ins,
        documents=len(documents),
        queries=len(QUERIES),
        runs=len(scene.runs),
        pairs=campaign.pairs.count(),
        grades=len(grades.used),
        skipped=grades.skipped,
    )


def _scene(people: People, documents: list[DemoDocument], at: datetime) -> _Scene:
    collection = create_collection(
        by=people.lead,
        at=at,
        slug=SLUG,
        name="Python standard library",
        description="The documentation of the Python that runs this demo, and questions that "
        "programmers ask.",
    )
    _add_members(collection, people, at)
    _load(collection, documents, people.lead, at)
    lead = get_access(viewer=people.lead, slug=SLUG)
    scale = Scale.default()
    judgment_list = create_list(access=lead, at=at, slug=LIST, name="Main", scale=scale)
    runs = _import_runs(get_access(viewer=people.researcher, slug=SLUG), documents, at)
    return _Scene(at, people, lead, judgment_list, runs)


def _people() -> tuple[tuple[SignIn, ...], People]:
    names = {
        "annotator": "Ben (annotator)",
        "researcher": "Dora (researcher)",
        "lead": "Ada (lead)",
    }
    users, sign_ins = {}, []
    for role, name in names.items():
        password = "-".join(secrets.token_hex(2) for _ in range(4))
        users[role] = User.objects.create_user(username=role, password=password, name=name)
        sign_ins.append(SignIn(role, role, password))
    first, second = (
        User.objects.create_user(
            username=f"{which}-reading", name=f"{which.title()} reading (model)"
        )
        for which in ("first", "second")
    )
    people = People(users["lead"], users["researcher"], users["annotator"], (first, second))
    return tuple(sign_ins), people


def _add_members(collection: Collection, people: People, at: datetime) -> None:
    roles = {people.researcher: Role.RESEARCHER, people.annotator: Role.ANNOTATOR}
    roles |= dict.fromkeys(people.readings, Role.ANNOTATOR)
    for person, role in roles.items():
        add_member(collection=collection, user=person, role=role, by=people.lead, at=at)


def _load(
    collection: Collection, documents: Iterable[DemoDocument], by: User, at: datetime
) -> None:
    queries = (
        QueryRecord(
            query_id=query.qid,
            text=query.text,
            description=query.description,
            segment=query.segment,
            weight=query.weight,
            line=number,
        )
        for number, query in enumerate(QUERIES, start=1)
    )
    load_queries(collection=collection, records=queries, by=by, at=at)
    records = (
        DocumentRecord(
            doc_id=document.docid,
            title=document.title,
            text=document.body,
            fields=document.fields,
            line=number,
        )
        for number, document in enumerate(documents, start=1)
    )
    load_documents(collection=collection, records=records, by=by, at=at)


def _import_runs(access: Access, documents: Iterable[DemoDocument], at: datetime) -> list[Run]:
    """Every ranker's output as a TREC file, taken in like any researcher's."""
    index = inverted_index(
        (document.docid, document.title, document.body) for document in documents
    )
    questions = [(query.qid, query.text) for query in QUERIES]
    runs = []
    for ranker in RANKERS:
        registered = create_ranker(
            access=access, at=at, slug=ranker.slug, name=ranker.name, description=ranker.description
        )
        lines = "".join(f"{line}\n" for line in run_lines(ranker, index, questions))
        imported = import_run(
            access=access,
            ranker=registered,
            source=io.BytesIO(lines.encode()),
            name=f"{ranker.slug}-1",
            file_name=f"{ranker.slug}.run",
            at=at,
        )
        runs.append(imported.run)
    return runs


def _label(scene: _Scene, grades: DemoGrades) -> Campaign:
    """The campaign, its pairs in three pools, and the shipped grades as labels of two people."""
    collection = scene.lead.collection
    qids, docids = map_queries(collection=collection), map_documents(collection=collection)
    read = {
        (qids[grade.qid], docids[grade.docid]): (grade.first, grade.second) for grade in grades.used
    }
    half_read = set(sorted({query for query, _ in read})[:HALF_READ])
    campaign = _campaign(scene, seed=_seed(scene.people.annotator, qids.values(), half_read))
    drawn = _draw(scene.runs)
    both = {pair: drawn[pair] for pair in drawn if pair in read and pair[0] not in half_read}
    once = {pair: drawn[pair] for pair in drawn if pair in read and pair[0] in half_read}
    rest = {pair: drawn[pair] for pair in drawn if pair not in read}
    first, second = scene.people.readings
    _add(campaign, both, scene)
    open_campaign(access=scene.lead, campaign=campaign, at=scene.at)
    campaign.refresh_from_db()
    analyse()
    _enter(_desk(first, campaign), {pair: read[pair][0] for pair in both}, scene.at)
    _enter(_desk(second, campaign), {pair: read[pair][1] for pair in both}, scene.at)
    _add(campaign, once, scene)
    _enter(_desk(first, campaign), {pair: read[pair][0] for pair in once}, scene.at)
    _add(campaign, rest, scene)
    return campaign


def _campaign(scene: _Scene, *, seed: int) -> Campaign:
    campaign = create_campaign(
        access=scene.lead,
        at=scene.at,
        seed=seed,
        judgment_list=scene.judgment_list,
        guideline=_guideline(scene),
        name=CAMPAIGN,
        overlap=2,
        depth=DEPTH,
        rule=Campaign.Rule.MEAN,
    )
    people = [scene.people.annotator, *scene.people.readings]
    add_annotators(access=scene.lead, campaign=campaign, people=people, at=scene.at)
    return campaign


def _guideline(scene: _Scene) -> Guideline:
    grades = [
        {
            "code": words.code,
            "definition": words.definition,
            "examples": words.examples,
            "counter_examples": words.counter_examples,
        }
        for words in grade_words()
    ]
    return create_guideline(
        access=scene.lead,
        at=scene.at,
        judgment_list=scene.judgment_list,
        name="Is this what the asker needs?",
        text=general_text(),
        grades=grades,
    )


def _seed(annotator: User, queries: Iterable[int], half_read: set[int]) -> int:
    """The first seed whose order lets the annotator begin where one label completes a pair."""
    pks = sorted(queries)
    wanted = min(STARTS, len(half_read))
    for seed in range(100_000):
        order = Order(seed=seed, annotator=annotator.pk, query_by_query=True)
        if set(order.sort_chunks(pks)[:wanted]) <= half_read:
            return seed
    return 0


def _draw(runs: list[Run]) -> Drawn:
    named = {run.pk: (run.ranker.slug, run.name) for run in runs}
    ranked = (
        Ranked(*named[one.run_id], one.query_id, one.document_ids)
        for one in list_ranked_documents(run_ids=named, depth=DEPTH)
    )
    return depth_k_pool(ranked, depth=DEPTH)


def _add(campaign: Campaign, drawn: Drawn, scene: _Scene) -> None:
    if not drawn:
        return
    pool = Pool(
        campaign=campaign,
        strategy=Pool.Strategy.DEPTH_K,
        depth=DEPTH,
        seed=0,
        runs=[{"ranker": run.ranker.slug, "run": run.name} for run in scene.runs],
        created_at=scene.at,
        created_by=scene.people.lead,
    )
    add_pairs(campaign=campaign, pool=pool, drawn=drawn)


def _desk(person: User, campaign: Campaign) -> Desk:
    return get_desk(viewer=person, campaign_id=campaign.public_id)


def _enter(desk: Desk, grades: dict[Pair, int], at: datetime) -> None:
    """Enter what somebody has read, as labels given in the order in which they meet the pairs."""
    by_text = _by_text(grades)
    while lease_next(desk=desk, count=MOST, at=at):
        for shown in list_leased_pairs(desk):
            submission = Submission(
                id=uuid.uuid4(),
                assignment=shown.assignment,
                guideline_revision=1,
                made_at=at,
                grade=by_text[shown.query_text, shown.content_hash],
                content_hash=shown.content_hash,
            )
            submit_label(desk=desk, submission=submission, at=at)
    release_leases(desk=desk)


def _by_text(grades: dict[Pair, int]) -> dict[tuple[str, str], int]:
    """The grades by what an annotator sees of a pair, which is not its ids."""
    texts = dict(Query.objects.filter(pk__in={q for q, _ in grades}).values_list("pk", "text"))
    documents = Document.objects.filter(pk__in={d for _, d in grades})
    hashes = dict(documents.values_list("pk", "content_hash"))
    return {(texts[query], hashes[doc]): grade for (query, doc), grade in grades.items()}
