"""Gold from a file: pairs with their right answers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from annotation.gold.services import MAX_REASON_CHARACTERS
from touchstone.files.csv_lines import csv_lines
from touchstone.files.errors import Problems, Rule
from touchstone.files.labels import ids_sound, named_rows, read_grade
from touchstone.files.reading import Source
from touchstone.scales import Scale

COLUMNS: Final = ("query_id", "doc_id", "grade")
WRITTEN: Final = (*COLUMNS, "highest_grade", "reason")
MOST_ANSWERS: Final = 10_000


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """One line: the grades of a pair that are right, `low` to `high`, and why."""

    line: int
    query_id: str
    doc_id: str
    low: int
    high: int
    reason: str


@dataclass(frozen=True)
class GoldAnswer:
    """A gold pair: the right grades, from `grade` to `highest_grade`, and the reason."""

    query_id: str
    doc_id: str
    grade: int
    highest_grade: int
    reason: str


@dataclass(frozen=True)
class GoldFile:
    """A file's answers in its order. name: the file's."""

    name: str
    answers: tuple[GivenAnswer, ...]


def read_gold(source: Source, *, name: str, scale: Scale) -> GoldFile:
    """Read gold as CSV or JSONL, gzipped or not.

    Columns or keys: query_id, doc_id, grade; and where there are any highest_grade (then grade is
    the lowest that is right) and reason. Raises FileRefused with every line that breaks a rule.
    """
    problems = Problems(name)
    answers: list[GivenAnswer] = []
    seen: dict[tuple[str, str], int] = {}
    for line, values in named_rows(source, problems, columns=COLUMNS):
        answer = _answer(line, values, scale, problems)
        if answer is None:
            continue
        first = seen.setdefault((answer.query_id, answer.doc_id), line)
        if first != line:
            problems.add(line, Rule.DUPLICATE, f"this pair is already on line {first}.")
            continue
        answers.append(answer)
        if len(answers) > MOST_ANSWERS:
            raise problems.stop(line, Rule.TOO_MUCH, f"more than {MOST_ANSWERS:,} pairs.")
    if not answers and not problems:
        raise problems.stop(1, Rule.EMPTY, "the file has no gold in it.")
    problems.raise_if_any()
    return GoldFile(name, tuple(answers))


def gold_csv(answers: Iterable[GoldAnswer]) -> Iterator[str]:
    """Lines of CSV that `read_gold` reads again."""
    rows = ([getattr(answer, name) for name in WRITTEN] for answer in answers)
    return csv_lines([WRITTEN, *rows])


def _answer(
    line: int, values: Mapping[str, str], scale: Scale, problems: Problems
) -> GivenAnswer | None:
    if not ids_sound(line, values, problems):
        return None
    before = problems.total
    low = read_grade(line, values["grade"], scale, problems)
    upper = values.get("highest_grade", "")
    high = read_grade(line, upper, scale, problems) if upper else low
    reason = values.get("reason", "")
    if len(reason) > MAX_REASON_CHARACTERS:
        message = f"a reason has at most {MAX_REASON_CHARACTERS:,} characters."
        problems.add(line, Rule.TEXT, message)
    if low is not None and high is not None and low > high:
        problems.add(line, Rule.GRADE, f"highest_grade ({high}) is below grade ({low}).")
    if low is None or high is None or problems.total > before:
        return None
    return GivenAnswer(line, values["query_id"], values["doc_id"], low, high, reason)
