"""The demo workspace: real documents, runs and judgments, through the same doors as yours."""

import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from config.demo import clicks
from config.demo.corpus import DemoDocument, standard_library
from config.demo.grades import DRAWN_FILE, DemoGrades, demo_grades
from config.demo.inverted_index import inverted_index
from config.demo.people import People, SignIn, create_people
from config.demo.queries import QUERIES
from config.demo.rankers import RANKERS, run_lines
from config.demo.story import DEPTH, Stage, tell
from config.demo.traffic import NAME, simulated_traffic
from evaluation.corrected.drawing import draw_for_people
from evaluation.models import Run
from evaluation.runs.queries import list_ranked_documents
from evaluation.runs.rankers import create_ranker
from evaluation.runs.services import import_run
from judgments.clicks.interleaving import store_interleaving
from judgments.clicks.services import store_clicks
from judgments.collections.queries import list_document_ids, list_query_ids
from judgments.collections.services import create_collection, load_documents, load_queries
from judgments.lists.services import create_list
from judgments.members.services import add_member
from judgments.models import Collection, User
from judgments.permissions import Access, get_access
from judgments.samples.designs import SEARCHES, Design
from judgments.samples.services import draw_sample
from judgments.traffic.queries import CUTS
from judgments.traffic.services import store_frame
from touchstone.files.collections import DocumentRecord, QueryRecord
from touchstone.scales import Scale

SLUG: Final = "python"
LIST: Final = "main"
SAMPLED: Final = 30  # questions, of which the demo's people have judged some
SEED: Final = 7
FOR_PEOPLE: Final = 20  # questions that people judged completely, to correct the machine judge
INTERLEAVED: Final = ("bm25", "title-only")
BEGAN: Final = timedelta(days=10)  # before what is now

Say = Callable[[str], None]


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


def is_built() -> bool:
    """Whether the workspace is there already."""
    return Collection.objects.filter(slug=SLUG).exists()


def build_workspace(*, at: datetime, say: Say) -> Workspace:
    """Build everything that the demo shows; all or nothing.

    at: now; the demo's people worked in the ten days before. say: told each step in words.
    """
    with transaction.atomic():
        return _build(at, say)


def _build(at: datetime, say: Say) -> Workspace:
    documents = standard_library()
    say(f"read {len(documents):,} documents of this machine's own Python")
    sign_ins, people = create_people()
    stage = _stage(people, documents, at)
    say(f"ranked {len(QUERIES)} questions with {len(stage.runs)} rankers and imported their runs")
    _sample(stage, at)
    sampled = _sample_for_people(stage, at)
    say(f"drew {SAMPLED} questions from simulated traffic, and {FOR_PEOPLE} for people")
    grades, imported = demo_grades(documents), demo_grades(documents, DRAWN_FILE)
    campaign = tell(stage, grades, sampled=sampled, imported=imported)
    read, skipped = len(grades.used) + len(imported.used), grades.skipped + imported.skipped
    say(f"entered labels of {read:,} pairs ({skipped} skipped)")
    _click(stage, grades)
    say(f"simulated {clicks.PAGES:,} result pages with clicks")
    return Workspace(
        sign_ins=sign_ins,
        documents=len(documents),
        queries=len(QUERIES),
        runs=len(stage.runs),
        pairs=campaign.pairs.count(),
        grades=read,
        skipped=skipped,
    )


def _sample(stage: Stage, at: datetime) -> None:
    """A traffic log that says of itself that it is simulated, and a sample of it."""
    judgment_list = stage.judgment_list
    frame = store_frame(
        collection=judgment_list.collection,
        name=NAME,
        blocks=[simulated_traffic(QUERIES)],
        file_name="simulated traffic",
        by=stage.people.lead,
        at=at - BEGAN,
        is_simulated=True,
    )
    draw_sample(
        frame=frame,
        judgment_list=judgment_list,
        name=f"Sample of {SAMPLED} questions",
        design=Design(by_size=True, cuts=CUTS, n=SAMPLED, allocation=SEARCHES),
        seed=SEED,
        by=stage.people.lead,
        at=at - BEGAN,
    )


def _sample_for_people(stage: Stage, at: datetime) -> set[int]:
    """The questions (pk) that people judge completely, drawn as the page does it."""
    ranked = list_ranked_documents(run_ids=[run.pk for run in stage.runs], depth=DEPTH)
    plan = draw_for_people(
        judgment_list=stage.judgment_list,
        query_ids={one.query_id for one in ranked if one.document_ids},
        n=FOR_PEOPLE,
        seed=SEED,
        by=stage.people.lead,
        at=at - BEGAN,
        frame_name=f"{stage.judgment_list.name}: all questions of the pool",
    )
    return set(plan.members.values_list("query", flat=True))


def _click(stage: Stage, grades: DemoGrades) -> None:
    """A click log on the runs' first documents that says of itself that it is simulated."""
    collection = stage.judgment_list.collection
    ranked = list(list_ranked_documents(run_ids=[run.pk for run in stage.runs], depth=clicks.DEPTH))
    qids = list_query_ids(collection=collection, pks={one.query_id for one in ranked})
    docids = list_document_ids(
        collection=collection, pks={pk for one in ranked for pk in one.document_ids}
    )
    asked = {query.qid: query for query in QUERIES}
    shown = [
        (asked[qids[one.query_id]], [docids[pk] for pk in one.document_ids])
        for one in ranked
        if len(one.document_ids) > 1
    ]
    given = {(asked[one.qid].text, one.docid): one.first for one in grades.used}
    store_clicks(
        collection=collection,
        name=clicks.NAME,
        log=clicks.simulated_clicks(
            [clicks.Shown(query.text, own) for query, own in shown],
            [query.weight for query, _ in shown],
            given,
        ),
        examination=clicks.EXAMINATION,
        is_simulated=True,
        by=stage.people.lead,
        at=stage.at,
    )
    by_run = {run.pk: run.ranker.slug for run in stage.runs}
    own: dict[str, dict[str, list[str]]] = {slug: {} for slug in INTERLEAVED}
    for one in ranked:
        if (slug := by_run[one.run_id]) in own:
            text = asked[qids[one.query_id]].text
            own[slug][text] = [docids[pk] for pk in one.document_ids]
    store_interleaving(
        collection=collection,
        name=clicks.INTERLEAVING,
        log=clicks.simulated_interleaving(
            own[INTERLEAVED[0]], own[INTERLEAVED[1]], given, rankers=INTERLEAVED
        ),
        is_simulated=True,
        by=stage.people.lead,
        at=stage.at,
    )


def _stage(people: People, documents: list[DemoDocument], now: datetime) -> Stage:
    at = now - BEGAN
    collection = create_collection(
        by=people.lead,
        at=at,
        slug=SLUG,
        name="Python standard library",
        description="The documentation of the Python that runs this demo, and questions that "
        "programmers ask.",
    )
    for person, role in people.roles().items():
        add_member(collection=collection, user=person, role=role, by=people.lead, at=at)
    _load(collection, documents, people.lead, at)
    lead = get_access(viewer=people.lead, slug=SLUG)
    scale = Scale.default()
    judgment_list = create_list(access=lead, at=at, slug=LIST, name="Main", scale=scale)
    runs = _import_runs(get_access(viewer=people.researcher, slug=SLUG), documents, at)
    return Stage(now, people, lead, judgment_list, runs)


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
