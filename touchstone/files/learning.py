"""Grades and features as the files that rankers are trained on.

LETOR's lines are `grade qid:1 1:0.5 2:3 # comment`. RankLib and XGBoost read the query from `qid`;
LightGBM takes the sizes of the groups from a file beside, which XGBoost can do as well. TF-Ranking
reads ELWC instead.
"""

import io
import math
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from touchstone.errors import DomainError
from touchstone.files.elwc import RESERVED, GradedExample, ListWriter
from touchstone.files.errors import Problems, Rule, quoted
from touchstone.files.numbers import NUMBER
from touchstone.files.rating_lines import (
    DOCUMENT_NAMES,
    QUERY_NAMES,
    check_memory,
    csv_rows,
    unguarded,
)
from touchstone.files.rating_rows import JudgedPair, sound_ids
from touchstone.files.reading import Progress, Source

MOST_FEATURES: Final = 5_000
NAME: Final = "judgments.txt"
RECORDS: Final = "judgments.tfrecord"
TOOLS: Final = {
    "ranklib": "RankLib (LETOR)",
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "tfranking": "TF-Ranking (ELWC)",
}
_SIZES: Final = {"lightgbm": f"{NAME}.query", "xgboost": f"{NAME}.group"}
_NUMBER: Final = re.compile(NUMBER)
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)  # so that the same content is the same file


class NothingToLearn(DomainError):
    """Not one judged pair has features."""


class FeatureRefused(DomainError):
    """A feature that the tool can't be given."""


@dataclass(frozen=True, slots=True)
class Features:
    """names: of the columns. values: by (query id, document id), as the file writes each number."""

    names: tuple[str, ...]
    values: dict[tuple[str, str], tuple[str, ...]]


def read_features(source: Source, *, name: str, progress: Progress | None = None) -> Features:
    """CSV below a header with query_id, doc_id and a column for each feature.

    An empty cell is a feature that the pair does not have.
    Raises FileRefused, which names every problem with its line.
    """
    problems = Problems(name)
    rows = csv_rows(source, problems, progress)
    number, header = next(rows, (1, []))
    positions, columns = _columns(number, header, problems)
    values: dict[tuple[str, str], tuple[str, ...]] = {}
    size = 0
    for number, cells in rows:
        if len(cells) != len(header):
            message = f"{len(cells)} columns, but the header has {len(header)}."
            problems.add(number, Rule.COLUMNS, message)
            continue
        pair = (
            unguarded(cells[positions[0]].strip(" \t")),
            unguarded(cells[positions[1]].strip(" \t")),
        )
        if not sound_ids(number, *pair, problems) or not _numbers(number, cells, columns, problems):
            continue
        if pair in values:
            message = f"document {quoted(pair[1])} of query {quoted(pair[0])} appears twice."
            problems.add(number, Rule.DUPLICATE, message)
        values[pair] = tuple(cells[position].strip() for position in columns)
        size += 200 + sum(map(len, cells)) + 60 * len(cells)
        check_memory(size, number, problems)
    problems.raise_if_any()
    return Features(tuple(header[position].strip() for position in columns), values)


def write_learning(kind: str, pairs: Iterable[JudgedPair], features: Features) -> bytes:
    """A zip of the training file, the groups' sizes, and what its rows and numbers stand for.

    kind: of TOOLS. A grade below 0 is written as 0, which is the least that these take. Judged
    pairs without features, and features of pairs that no one judged, are left out and counted.
    Raises NothingToLearn where nothing is left, FeatureRefused for what TF-Ranking can't hold.
    """
    ordered = sorted(pairs, key=lambda pair: (pair.query_id, pair.doc_id))
    used = [pair for pair in ordered if (pair.query_id, pair.doc_id) in features.values]
    if not used:
        raise NothingToLearn("nothing_to_learn", "No judged pair has features in this file.")
    groups = [list(own) for _, own in groupby(used, key=lambda pair: pair.query_id)]
    said = (
        f"{len(used)} judged pairs of {len(groups)} queries, {len(features.names)} features.\n"
        f"{len(ordered) - len(used)} judged pairs had no features and are left out.\n"
        f"{len(features.values) - len(used)} pairs with features are not judged and left out.\n"
        "A grade below 0 is written as 0. pairs.tsv has the pairs in the order of the file.\n"
    )
    if kind == "tfranking":
        files: dict[str, str | bytes] = {RECORDS: _records(groups, features)}
    else:
        files = _of_lines(kind, groups, features)
    names = enumerate(features.names, start=1)
    return _zipped(
        files
        | {
            "pairs.tsv": "".join(f"{pair.query_id}\t{pair.doc_id}\n" for pair in used),
            "features.tsv": "".join(f"{number}\t{name}\n" for number, name in names),
            "README.txt": said,
        }
    )


def _columns(
    line: int, header: Sequence[str], problems: Problems
) -> tuple[tuple[int, int], list[int]]:
    """Where the ids are, and the features."""
    names = [cell.strip().lower() for cell in header]
    ids = [
        next((names.index(name) for name in wanted if name in names), -1)
        for wanted in (QUERY_NAMES, DOCUMENT_NAMES)
    ]
    features = [position for position in range(len(names)) if position not in ids]
    if -1 in ids or not features:
        message = "a header with query_id, doc_id and at least one feature is needed."
    elif len(set(names)) < len(names) or not all(names):
        message = "every column needs a unique name."
    elif len(features) > MOST_FEATURES:
        message = f"more than {MOST_FEATURES:,} features."
    elif not all(name.isprintable() for name in names):
        message = "a column's name contains unprintable characters."
    else:
        return (ids[0], ids[1]), features
    raise problems.stop(line, Rule.HEADER, message)


def _numbers(line: int, cells: Sequence[str], columns: Sequence[int], problems: Problems) -> bool:
    for position in columns:
        text = cells[position].strip()
        if not text:
            continue
        if not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
            message = f"the feature {quoted(text)} is not a finite number."
            problems.add(line, Rule.NOT_FINITE, message)
            return False
    return True


def _line(kind: str, position: int, pair: JudgedPair, values: Sequence[str]) -> str:
    words = [str(max(0, pair.grade))]
    if kind != "lightgbm":
        words.append(f"qid:{position}")
    words += [f"{number}:{value}" for number, value in enumerate(values, start=1) if value]
    if kind == "ranklib":
        words.append(f"# {pair.query_id} {pair.doc_id}")
    return " ".join(words) + "\n"


def _of_lines(
    kind: str, groups: Sequence[Sequence[JudgedPair]], features: Features
) -> dict[str, str | bytes]:
    lines = [
        _line(kind, position, pair, features.values[pair.query_id, pair.doc_id])
        for position, own in enumerate(groups, start=1)
        for pair in own
    ]
    files: dict[str, str | bytes] = {NAME: "".join(lines)}
    if kind in _SIZES:
        files[_SIZES[kind]] = "".join(f"{len(own)}\n" for own in groups)
    return files


def _records(groups: Sequence[Sequence[JudgedPair]], features: Features) -> bytes:
    """Every query as one ExampleListWithContext."""
    taken = RESERVED.intersection(features.names)
    if taken:
        message = f"TF-Ranking's file has its own {min(taken)}: rename the column."
        raise FeatureRefused("feature_refused", message)
    writer = ListWriter(features.names)
    records = []
    for own in groups:
        query_id = own[0].query_id
        examples = [
            GradedExample(pair.doc_id, max(0, pair.grade), features.values[query_id, pair.doc_id])
            for pair in own
        ]
        try:
            records.append(writer.record(query_id, examples))
        except OverflowError as error:
            message = (
                f"A feature of query {quoted(query_id)} is too large for TF-Ranking's 32 bits."
            )
            raise FeatureRefused("feature_refused", message) from error
    return b"".join(records)


def _zipped(files: Mapping[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()
