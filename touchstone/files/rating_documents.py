"""Judgments as one JSON document: RRE's ratings and the OpenSearch workbench's judgments.

RRE: topics > query_groups > queries with placeholders, beside them relevant_documents; each level
may be left out, as Quepid does. Documents are {"id": {"gain": 3}} or {"3": ["id"]}.
OpenSearch: {"judgmentRatings": [{"query": …, "ratings": [{"docId": …, "rating": "3.000"}]}]}, or
its API's answer, which has this in hits > hits > _source; first releases had an object of queries.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from touchstone.files.errors import Problems, Rule
from touchstone.files.located_json import Located, read_document
from touchstone.files.rating_rows import JudgedPair, Rating, sound_ids
from touchstone.files.reading import Progress, Source

PLACEHOLDER: Final = "$query"
_PER_QUERY_ONLY: Final = "an object with `query` and the list `ratings` is needed here."


def read_opensearch(source: Source, problems: Problems, progress: Progress | None) -> list[Rating]:
    """Judgments as the Search Relevance Workbench imports them, and as it returns them."""
    document = read_document(source, problems, progress)
    result: list[Rating] = []
    for judgments in _judgment_lists(document):
        queries = judgments.get("judgmentRatings") or judgments.get("judgmentScores")
        if queries is None or not isinstance(queries.value, list | dict):
            message = "`judgmentRatings` is missing: a list of queries with their ratings."
            raise problems.stop(judgments.line, Rule.FIELD, message)
        for line, text, ratings in _queries(queries, problems):
            for rating_line, doc_id, value in _ratings(ratings, line, problems):
                _note(result, Rating(rating_line, text, doc_id, value), problems)
    return result


def read_rre(source: Source, problems: Problems, progress: Progress | None) -> list[Rating]:
    """A ratings file of the Rated Ranking Evaluator; all queries of a group share its documents."""
    document = read_document(source, problems, progress)
    result: list[Rating] = []
    for group in _groups(document):
        documents = group.get("relevant_documents")
        if documents is None or not isinstance(documents.value, dict):
            problems.add(group.line, Rule.FIELD, "the object `relevant_documents` is missing.")
            continue
        gains = list(_gains(documents.value, problems))
        for text in _texts(group, problems):
            for line, doc_id, value in gains:
                _note(result, Rating(line, text, doc_id, value), problems)
    return result


def write_opensearch(pairs: Sequence[JudgedPair]) -> bytes:
    """What `PUT _plugins/_search_relevance/judgments` takes."""
    return _written(
        {
            "name": "Touchstone",
            "description": "Judgments exported from Touchstone",
            "type": "IMPORT_JUDGMENT",
            "judgmentRatings": [
                {
                    "query": name,
                    "ratings": [
                        {"docId": pair.doc_id, "rating": f"{pair.grade}.000"} for pair in own
                    ],
                }
                for name, own in _by_query(pairs)
            ],
        }
    )


def write_rre(pairs: Sequence[JudgedPair]) -> bytes:
    """A ratings file with one query group for each query; the index is for the reader to name."""
    groups = [
        {
            "name": own[0].query_id,
            "queries": [{"template": "query.json", "placeholders": {PLACEHOLDER: name}}],
            "relevant_documents": {pair.doc_id: {"gain": pair.grade} for pair in own},
        }
        for name, own in _by_query(pairs)
    ]
    topics = [{"description": "Touchstone", "query_groups": groups}]
    return _written({"index": "index", "id_field": "id", "topics": topics})


def _written(document: object) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()


def _by_query(pairs: Sequence[JudgedPair]) -> Iterator[tuple[str, list[JudgedPair]]]:
    for _, own in groupby(pairs, key=lambda pair: pair.query_id):
        judged = list(own)
        yield judged[0].query_name, judged


def _judgment_lists(document: Located) -> list[Located]:
    """The document itself, or the hits of a search for judgment lists."""
    hits = document.get("hits")
    result = hits.items("hits") if hits is not None else None
    return [one.get("_source") or one for one in (result if result is not None else [document])]


def _queries(queries: Located, problems: Problems) -> Iterator[tuple[int, str, Located]]:
    """(line, text, ratings) of each query: [{"query": …, "ratings": …}], before 3.1 {text: …}."""
    if isinstance(queries.value, dict):
        yield from ((own.line, text, own) for text, own in queries.value.items())
        return
    for one in queries.value if isinstance(queries.value, list) else ():
        text, ratings = _scalar(one.get("query")), one.get("ratings")
        if text is None or ratings is None:
            problems.add(one.line, Rule.FIELD, _PER_QUERY_ONLY)
        else:
            yield one.line, text, ratings


def _ratings(ratings: Located, line: int, problems: Problems) -> Iterator[tuple[int, str, str]]:
    """(line, document, value) of each rating: a list of objects, or {document: value}."""
    pairs: list[tuple[int, str | None, str | None]]
    if isinstance(ratings.value, dict):
        pairs = [(own.line, name, _scalar(own)) for name, own in ratings.value.items()]
    elif isinstance(ratings.value, list):
        pairs = [
            (one.line, _scalar(one.get("docId")), _scalar(one.get("rating") or one.get("score")))
            for one in ratings.value
        ]
    else:
        problems.add(line, Rule.FIELD, _PER_QUERY_ONLY)
        return
    for own_line, doc_id, value in pairs:
        if doc_id is None or value is None:
            problems.add(own_line, Rule.FIELD, "`docId` and `rating` are needed here.")
        else:
            yield own_line, doc_id, value


def _groups(document: Located) -> Iterator[Located]:
    """The query groups, wherever they stand; a query of Quepid's form is a group of its own."""
    for topic in document.items("topics") or [document]:
        for group in topic.items("query_groups") or [topic]:
            alone = [one for one in group.items("queries") or [] if one.get("relevant_documents")]
            yield from alone or [group]


def _texts(group: Located, problems: Problems) -> Iterator[str]:
    """What the queries of a group ask: `$query`, or the only placeholder that there is."""
    for query in group.items("queries") or [group]:
        holders = query.get("placeholders")
        values = holders.value if holders is not None else None
        if isinstance(values, dict):
            asked = values.get(PLACEHOLDER) or next(iter(values.values()), None)
            text = _scalar(asked)
            if text is not None:
                yield text
                continue
        problems.add(query.line, Rule.FIELD, "a query without the placeholder `$query`.")


def _gains(documents: dict[str, Located], problems: Problems) -> Iterator[tuple[int, str, str]]:
    """(line, document, value) of each relevant document, in either of the two forms."""
    for key, own in documents.items():
        gain = _scalar(own.get("gain"))
        if gain is not None:
            yield own.line, key, gain
        elif isinstance(own.value, list):
            for one in own.value:
                doc_id = _scalar(one)
                if doc_id is None:
                    problems.add(one.line, Rule.FIELD, "a document's id is needed here.")
                else:
                    yield one.line, doc_id, key
        else:
            message = "a document with its `gain`, or a gain with its documents, is needed here."
            problems.add(own.line, Rule.FIELD, message)


def _scalar(result: Located | None) -> str | None:
    """A text or a number as text; None for anything else."""
    if result is None or isinstance(result.value, bool):
        return None
    return str(result.value) if isinstance(result.value, str | int | float) else None


def _note(result: list[Rating], rating: Rating, problems: Problems) -> None:
    rating = rating._replace(query=" ".join(rating.query.split()))
    if sound_ids(rating.line, rating.query, rating.doc_id, problems, by_text=True):
        result.append(rating)
