"""The grades that come with the demo: two for each pair, by two readings that did not see each
other. How they were made is told in the README beside this file.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from config.demo.corpus import DemoDocument

GRADES_FILE = Path(__file__).with_name("grades.tsv")
DRAWN_FILE = Path(__file__).with_name("drawn_grades.tsv")
HEADER = ("qid", "docid", "content_hash", "first", "second")
GRADE = re.compile(r"[0-4]")
DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class DemoGrade:
    """What the first and the second reading said of one pair, each 0 to 4."""

    qid: str
    docid: str
    content_hash: str
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class DemoGrades:
    """The grades that fit this machine's documents, in the file's order, and how many do not."""

    used: tuple[DemoGrade, ...]
    skipped: int


def demo_grades(documents: Iterable[DemoDocument], path: Path = GRADES_FILE) -> DemoGrades:
    """The grades whose documents have the very text here that was read when they were given.

    documents: this machine's corpus. A document is found by its content hash alone; one that
    another Python words differently is skipped, one that only moved is used under its docid here.
    Raises ValueError, with file and line, for a line that is not of the form that HEADER names, and
    for a pair that appears twice.
    """
    docids = {document.content_hash: document.docid for document in documents}
    seen: set[tuple[str, str]] = set()
    used, skipped = [], 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        fields = tuple(line.split("\t"))
        if number == 1 and fields == HEADER:
            continue
        grade = _grade(fields, f"{path.name}:{number}")
        if (grade.qid, grade.content_hash) in seen:
            raise ValueError(f"{path.name}:{number}: this pair appears twice")
        seen.add((grade.qid, grade.content_hash))
        if grade.content_hash in docids:
            docid = docids[grade.content_hash]
            used.append(DemoGrade(grade.qid, docid, grade.content_hash, grade.first, grade.second))
        else:
            skipped += 1
    return DemoGrades(tuple(used), skipped)


def _grade(fields: tuple[str, ...], place: str) -> DemoGrade:
    if len(fields) != len(HEADER):
        raise ValueError(f"{place}: {len(HEADER)} fields are expected, not {len(fields)}")
    qid, docid, content_hash, first, second = fields
    if not DIGEST.fullmatch(content_hash):
        raise ValueError(f"{place}: the content hash is not 64 hexadecimal digits")
    if not (GRADE.fullmatch(first) and GRADE.fullmatch(second)):
        raise ValueError(f"{place}: a grade is a number from 0 to 4")
    return DemoGrade(qid, docid, content_hash, int(first), int(second))
