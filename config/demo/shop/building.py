"""A small shop beside the demo's documentation: products with pictures, which no one has judged.

Products, queries and pictures are made up, and the collection says so. The pictures come with the
documents, as data URIs; the worker of the server that starts next re-encodes them.
"""

import csv
import io
from datetime import datetime
from pathlib import Path
from typing import Final

from annotation.campaigns.services import add_annotators, create_campaign, open_campaign
from annotation.guidelines.services import create_guideline
from annotation.models import Campaign, Pool
from annotation.pooling.services import add_pairs
from config.demo.guideline import general_text, grade_words
from config.demo.inverted_index import inverted_index
from config.demo.rankers import RANKERS, run_lines
from config.demo.shop.drawing import draw
from evaluation.models import Run
from evaluation.runs.queries import list_ranked_documents
from evaluation.runs.rankers import create_ranker
from evaluation.runs.services import import_run
from judgments.collections.services import create_collection, load_documents, load_queries
from judgments.lists.services import create_list
from judgments.members.services import add_member
from judgments.models import Role, User
from judgments.permissions import Access, get_access
from judgments.pictures.services import choose_fields
from touchstone.files.collections import DocumentRecord, QueryRecord
from touchstone.pooling.pools import Ranked, depth_k_pool
from touchstone.scales import Grade, Scale

SLUG: Final = "made-up-shop"
CAMPAIGN: Final = "Products"
DEPTH: Final = 10
HERE: Final = Path(__file__).parent
GUIDELINE: Final = HERE / "guideline.md"
# ESCI's grades and the values that its nDCG counts with
SCALE: Final = Scale(
    (
        Grade(0, "Irrelevant", 0.0),
        Grade(1, "Complement", 0.01),
        Grade(2, "Substitute", 0.1),
        Grade(3, "Exact", 1.0),
    )
)


def build_shop(*, lead: User, researcher: User, annotator: User, at: datetime) -> Campaign:
    """The collection with its runs, and an open campaign of the annotator; in a transaction."""
    collection = create_collection(
        by=lead,
        at=at,
        slug=SLUG,
        name="Shop (made up)",
        description="Products of a shop that does not exist, with pictures drawn for this demo.",
    )
    for person, role in ((researcher, Role.RESEARCHER), (annotator, Role.ANNOTATOR)):
        add_member(collection=collection, user=person, role=role, by=lead, at=at)
    access = get_access(viewer=lead, slug=SLUG)
    choose_fields(access=access, fields={"picture": "small"}, at=at)
    collection.refresh_from_db()
    products = list_products()
    load_queries(collection=collection, records=list_queries(), by=lead, at=at)
    load_documents(collection=collection, records=products, by=lead, at=at)
    runs = _import_runs(get_access(viewer=researcher, slug=SLUG), products, at)
    return _open(access, runs, annotator, at)


def list_products() -> list[DocumentRecord]:
    """The products, with their pictures as data URIs."""
    return [
        DocumentRecord(
            doc_id=row["docid"],
            title=row["title"],
            text=row["text"],
            fields={
                "picture": draw(row["shape"], row["colour"]),
                "brand": row["brand"],
                "price": row["price"],
            },
            line=number,
        )
        for number, row in enumerate(_rows("products.tsv"), start=1)
    ]


def list_queries() -> list[QueryRecord]:
    """What customers of the shop look for."""
    return [
        QueryRecord(
            query_id=row["qid"],
            text=row["text"],
            description=row["description"],
            segment="",
            weight=1.0,
            line=number,
        )
        for number, row in enumerate(_rows("queries.tsv"), start=1)
    ]


def _rows(name: str) -> list[dict[str, str]]:
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _import_runs(access: Access, products: list[DocumentRecord], at: datetime) -> list[Run]:
    index = inverted_index((one.doc_id, one.title, one.text) for one in products)
    queries = [(one.query_id, one.text) for one in list_queries()]
    runs = []
    for ranker in (RANKERS[0], RANKERS[-1]):
        made = create_ranker(
            access=access, at=at, slug=ranker.slug, name=ranker.name, description=ranker.description
        )
        lines = "".join(f"{line}\n" for line in run_lines(ranker, index, queries))
        imported = import_run(
            access=access,
            ranker=made,
            source=io.BytesIO(lines.encode()),
            name=f"{ranker.slug}-1",
            file_name=f"{ranker.slug}.run",
            at=at,
        )
        runs.append(imported.run)
    return runs


def _open(access: Access, runs: list[Run], annotator: User, at: datetime) -> Campaign:
    judgment_list = create_list(access=access, at=at, slug="main", name="Main", scale=SCALE)
    guideline = create_guideline(
        access=access,
        at=at,
        judgment_list=judgment_list,
        name="Would this product do?",
        text=general_text(GUIDELINE),
        grades=[words.as_json() for words in grade_words(GUIDELINE)],
    )
    campaign = create_campaign(
        access=access,
        at=at,
        seed=0,
        judgment_list=judgment_list,
        guideline=guideline,
        name=CAMPAIGN,
        overlap=1,
        depth=DEPTH,
        rule=Campaign.Rule.MEAN,
    )
    named = {run.pk: (run.ranker.slug, run.name) for run in runs}
    pool = Pool(
        campaign=campaign,
        strategy=Pool.Strategy.DEPTH_K,
        depth=DEPTH,
        seed=0,
        runs=[{"ranker": ranker, "run": run} for ranker, run in named.values()],
        created_at=at,
        created_by=access.user,
    )
    ranked = (
        Ranked(*named[one.run_id], one.query_id, one.document_ids)
        for one in list_ranked_documents(run_ids=named, depth=DEPTH)
    )
    add_pairs(campaign=campaign, pool=pool, drawn=depth_k_pool(ranked, depth=DEPTH))
    add_annotators(access=access, campaign=campaign, people=[annotator], at=at)
    open_campaign(access=access, campaign=campaign, at=at)
    return campaign
