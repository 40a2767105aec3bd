"""Loading the grades that come with the demo."""

from pathlib import Path

import pytest

from config.demo.corpus import DemoDocument
from config.demo.grades import DRAWN_FILE, HEADER, DemoGrade, demo_grades
from config.demo.queries import QUERIES

HERE, MOVED, GONE = "a" * 64, "b" * 64, "c" * 64
DOCUMENTS = [
    DemoDocument("py:here", "here", "Text.", {}, HERE),
    DemoDocument("py:new.name", "moved", "Text.", {}, MOVED),
]


def write(tmp_path: Path, *lines: str) -> Path:
    """A grades file of these lines, blanks for tabs."""
    path = tmp_path / "grades.tsv"
    path.write_text("".join(line.replace(" ", "\t") + "\n" for line in lines), encoding="utf-8")
    return path


def test_grades_whose_text_is_here_are_used_and_others_counted(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        " ".join(HEADER),
        f"q1 py:here {HERE} 4 3",
        f"q1 py:gone {GONE} 0 0",
        f"q2 py:here {HERE} 1 1",
    )
    grades = demo_grades(DOCUMENTS, path)
    assert grades.used == (
        DemoGrade("q1", "py:here", HERE, 4, 3),
        DemoGrade("q2", "py:here", HERE, 1, 1),
    )
    assert grades.skipped == 1


def test_a_document_that_only_moved_keeps_its_grades_under_its_new_name(tmp_path: Path) -> None:
    (grade,) = demo_grades(DOCUMENTS, write(tmp_path, f"q1 py:old.name {MOVED} 2 2")).used
    assert grade.docid == "py:new.name"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (f"q1 py:here {HERE} 4", "5 fields are expected, not 4"),
        (f"q1 py:here {HERE} 4 5", "a grade is a number from 0 to 4"),
        (f"q1 py:here {HERE} ٣ 1", "a grade is a number from 0 to 4"),
        ("q1 py:here abc 4 4", "the content hash is not 64 hexadecimal digits"),
        (f"q0 py:here {HERE} 1 1", "this pair appears twice"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, reason: str) -> None:
    path = write(tmp_path, f"q0 py:here {HERE} 1 1", line)
    with pytest.raises(ValueError, match=rf"^grades\.tsv:2: {reason}$"):
        demo_grades(DOCUMENTS, path)


def test_the_grades_that_ship_are_of_our_queries_and_mostly_of_this_python(
    documents: list[DemoDocument],
) -> None:
    shipped = demo_grades(documents)
    asked = {query.qid for query in QUERIES}
    assert {grade.qid for grade in shipped.used} <= asked
    assert len(shipped.used) >= 400
    assert all(0 <= grade.first <= 4 and 0 <= grade.second <= 4 for grade in shipped.used)


def test_the_questions_drawn_for_people_were_read_by_the_same_rules(documents):
    drawn = demo_grades(documents, DRAWN_FILE)
    asked = {query.qid for query in QUERIES}
    before = {one.qid for one in demo_grades(documents).used}
    assert {one.qid for one in drawn.used} <= asked - before
    assert len(drawn.used) >= 200
    assert all(abs(one.first - one.second) <= 1 for one in drawn.used)


def test_the_two_readings_are_not_copies_of_each_other_and_yet_agree(
    documents: list[DemoDocument],
) -> None:
    used = demo_grades(documents).used
    differing = [grade for grade in used if grade.first != grade.second]
    assert differing
    assert len(differing) < 0.2 * len(used)
