"""Loading what machine judges are shown. Labels, gold and rankings are never read here."""

from collections.abc import Iterable

from annotation.machine_judges.prompts import ShownPair
from judgments.models import Collection, Document, Query
from judgments.pages.markup import HTML_FIELD, html_text
from judgments.pages.words import plain
from judgments.pictures.queries import field_names

Pair = tuple[int, int]  # ids of a query and a document
EMPTY: tuple[object, ...] = (None, "", [], {})


def show_pair(query: Query, document: Document, *, pictures: frozenset[str]) -> ShownPair:
    """A pair as a judge sees it: the texts alone. pictures: fields that hold pictures."""
    return ShownPair(
        query=query.text,
        description=query.description,
        title=document.title,
        url=document.url,
        body=document.body or html_text(document.clean_html),
        fields={
            name: plain(value)
            for name, value in document.fields.items()
            if value not in EMPTY and name not in pictures and name != HTML_FIELD
        },
    )


def load_shown(
    *, collection: Collection, pairs: Iterable[Pair]
) -> dict[Pair, tuple[ShownPair, str]]:
    """What is shown of each pair, and the document's content hash; stubs and queries without a
    text are left out."""
    wanted = list(pairs)
    pictures = field_names(collection)
    queries = Query.objects.in_bulk({query for query, _ in wanted})
    documents = Document.objects.in_bulk({document for _, document in wanted})
    return {
        (query, document): (
            show_pair(queries[query], documents[document], pictures=pictures),
            documents[document].content_hash,
        )
        for query, document in wanted
        if queries[query].text and not documents[document].is_stub
    }
