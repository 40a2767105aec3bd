"""Judgments in the formats of other tools: what there is, and how each is read and written.

Qrels have a reader of their own (`trec`), which is built for millions of lines. The others come
here as ratings, one after the other, and become the same thing, so that an import does not care
where its grades are from.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from touchstone.errors import DomainError
from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.numbers import NUMBER
from touchstone.files.rating_documents import (
    read_opensearch,
    read_rre,
    write_opensearch,
    write_rre,
)
from touchstone.files.rating_lines import (
    read_beir,
    read_csv,
    read_json_lines,
    read_quepid,
    write_beir,
    write_csv,
    write_json_lines,
    write_quepid,
)
from touchstone.files.rating_rows import JudgedPair, Rating, RatingReader
from touchstone.files.reading import TREC_LIMITS, Progress, Source
from touchstone.files.signals import SignalRefusedError, Signals
from touchstone.files.trec import QrelsFile, format_qrels, qrels_of, read_qrels
from touchstone.scales import Scale

_NUMBER: Final = re.compile(NUMBER)
Writer = Callable[[Sequence[JudgedPair]], bytes]


class FormatRefused(DomainError):
    """A format does not exist, or can't hold what it would have to."""


@dataclass(frozen=True, slots=True)
class RatingFormat:
    """A file format of judgments.

    name: as options and addresses have it. by_text: the file names a query by what it asks, not
    by its id. reader: None for qrels, which are read faster.
    """

    name: str
    title: str
    about: str
    extension: str
    media_type: str
    by_text: bool
    reader: RatingReader | None
    writer: Writer


def _write_trec(pairs: Sequence[JudgedPair]) -> bytes:
    return format_qrels((pair.query_id, pair.doc_id, pair.grade) for pair in pairs)


TREC: Final = "trec"
FORMATS: Final[dict[str, RatingFormat]] = {
    one.name: one
    for one in (
        RatingFormat(
            TREC,
            "TREC qrels",
            "query, anything, document, grade; for trec_eval, ir_measures and most others",
            "qrels",
            "text/plain",
            by_text=False,
            reader=None,
            writer=_write_trec,
        ),
        RatingFormat(
            "csv",
            "CSV",
            "query_id, doc_id, grade below a header; for spreadsheets and pandas",
            "csv",
            "text/csv",
            by_text=False,
            reader=read_csv,
            writer=write_csv,
        ),
        RatingFormat(
            "jsonl",
            "JSON Lines",
            "one object per line with query_id, doc_id and grade",
            "jsonl",
            "application/x-ndjson",
            by_text=False,
            reader=read_json_lines,
            writer=write_json_lines,
        ),
        RatingFormat(
            "beir",
            "BEIR qrels",
            "query-id, corpus-id, score with tabs between, below a header",
            "tsv",
            "text/tab-separated-values",
            by_text=False,
            reader=read_beir,
            writer=write_beir,
        ),
        RatingFormat(
            "quepid",
            "Quepid",
            "query, docid, rating as CSV; a query is named by its text",
            "csv",
            "text/csv",
            by_text=True,
            reader=read_quepid,
            writer=write_quepid,
        ),
        RatingFormat(
            "rre",
            "RRE ratings",
            "the ratings file of the Rated Ranking Evaluator; a query is named by its text",
            "json",
            "application/json",
            by_text=True,
            reader=read_rre,
            writer=write_rre,
        ),
        RatingFormat(
            "opensearch",
            "OpenSearch judgments",
            "what the Search Relevance Workbench imports; a query is named by its text",
            "json",
            "application/json",
            by_text=True,
            reader=read_opensearch,
            writer=write_opensearch,
        ),
    )
}


def get_format(name: str) -> RatingFormat:
    """The format with this name. Raises FormatRefused for another one."""
    try:
        return FORMATS[name]
    except KeyError:
        known = ", ".join(FORMATS)
        message = f"Unknown format {name[:40]!r}. Choose one of: {known}."
        raise FormatRefused("no_format", message) from None


def read_ratings(
    source: Source, form: RatingFormat, *, name: str, progress: Progress | None = None
) -> list[Rating]:
    """Every rating of a file, in its order; their values are not looked at yet.

    Raises FileRefused, which names every problem with its line.
    """
    if form.reader is None:
        qrels = read_qrels(source, name=name, progress=progress)
        lines = iter(qrels.lines.tolist())
        return [Rating(next(lines), q, d, str(grade)) for q, d, grade in qrels.pairs()]
    problems = Problems(name)
    ratings = form.reader(source, problems, progress)
    problems.raise_if_any()
    if not ratings:
        raise problems.stop(1, Rule.EMPTY, "the file has no judgments.")
    return ratings


def grade_ratings(
    ratings: Iterable[Rating],
    *,
    name: str,
    scale: Scale,
    signals: Signals | None = None,
    queries: Mapping[str, Sequence[str]] | None = None,
) -> QrelsFile:
    """The ratings as qrels: every value a grade of the scale, every query an id.

    signals: how values become grades; without it they are grades already, "3.000" as well as 3.
    queries: for files that name queries by their text, the ids that each text may mean.
    Raises FileRefused, which names every problem with its line.
    """
    problems = Problems(name)
    rows = []
    for rating in ratings:
        query_id = rating.query
        if queries is not None:
            query_id = _id_of_text(rating, queries, problems)
        grade = _grade(rating, scale, signals, problems)
        if query_id and grade is not None:
            rows.append((query_id, rating.doc_id, float(grade), rating.line))
    problems.raise_if_any()
    return qrels_of(rows, name=name, limits=TREC_LIMITS, problems=problems)


def write_ratings(form: RatingFormat, pairs: Iterable[JudgedPair]) -> bytes:
    """The judgments as a file, ordered by query and document as qrels are.

    Raises FormatRefused where a file that names queries by their text can't tell two apart.
    """
    ordered = sorted(pairs, key=lambda pair: (pair.query_id, pair.doc_id))
    if form.by_text:
        _check_texts(form, ordered)
    return form.writer(ordered)


def _check_texts(form: RatingFormat, pairs: Sequence[JudgedPair]) -> None:
    of_text: dict[str, str] = {}
    for pair in pairs:
        other = of_text.setdefault(pair.query_name, pair.query_id)
        if other != pair.query_id:
            raise FormatRefused(
                "text_twice",
                f"{form.title} names queries by their text, and {other} and {pair.query_id} "
                "have the same.",
            )


def _id_of_text(rating: Rating, queries: Mapping[str, Sequence[str]], problems: Problems) -> str:
    """The one query that is meant; "" where there is none, or more, and a problem was noted."""
    result = queries.get(rating.query, ())
    if len(result) == 1:
        return result[0]
    what = quoted(rating.query)
    if result:
        message = f"{what} is the text of {len(result)} queries, including {', '.join(result[:3])}."
        problems.add(rating.line, "ambiguous-query", message)
    else:
        problems.add(
            rating.line, "unknown-query", f"no query of the collection has the text {what}."
        )
    return ""


def _grade(rating: Rating, scale: Scale, signals: Signals | None, problems: Problems) -> int | None:
    if signals is not None:
        try:
            return signals.grade(rating.value)
        except SignalRefusedError as refused:
            problems.add(rating.line, refused.rule, refused.message)
            return None
    text = rating.value.strip()
    if not _NUMBER.fullmatch(text) or not np.isfinite(float(text)) or float(text) % 1:
        message = (
            f"the grade {quoted(rating.value)} is not a whole number; map its values to grades."
        )
        problems.add(rating.line, Rule.GRADE, message)
        return None
    number = float(text)
    if number not in scale.codes:
        message = f"the grade {quoted(rating.value)} is not on the scale {scale}."
        problems.add(rating.line, Rule.SCALE, message)
        return None
    return int(number)
