"""Rankers, runs and the answers that evaluations are held against. Keyword-only, fixed seeds."""

import io
from collections.abc import Mapping, Sequence

from evaluation.models import Ranker, Run
from evaluation.services.rankers import start_ranker
from evaluation.services.runs import store_run
from judgments.models import Collection
from tests.builders import NOW

Rankings = Mapping[str, Sequence[str]]


def make_ranker(*, collection: Collection, slug: str = "bm25") -> Ranker:
    """A ranker; the one that is there already, if so."""
    found = Ranker.objects.filter(collection=collection, slug=slug).first()
    return found or start_ranker(collection=collection, by=None, at=NOW, slug=slug)


def run_text(rankings: Rankings) -> str:
    """A TREC run of {qid: docids, best first}."""
    return "".join(
        f"{qid} Q0 {docid} {rank} {1 / rank!r} test\n"
        for qid, docids in rankings.items()
        for rank, docid in enumerate(docids, start=1)
    )


def make_run(
    *,
    collection: Collection,
    rankings: Rankings | None = None,
    text: str | None = None,
    ranker: str = "bm25",
    name: str = "one",
) -> Run:
    """A run of {qid: docids, best first}, or of a file's text."""
    body = run_text(rankings or {}) if text is None else text
    return store_run(
        ranker=make_ranker(collection=collection, slug=ranker),
        by=None,
        source=io.BytesIO(body.encode()),
        name=name,
        file_name=f"{name}.run",
        at=NOW,
    ).run
