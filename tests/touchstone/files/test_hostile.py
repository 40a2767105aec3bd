"""Every hostile file gets the answer that its table says: the rule and the line, or none."""

import io
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.touchstone.files import hostile, hostile_records, hostile_trec
from tests.touchstone.files.hostile import Case
from touchstone.files.collections import read_documents, read_queries
from touchstone.files.errors import FileRefused, Rule
from touchstone.files.reading import DOCUMENT_LIMITS, TREC_LIMITS
from touchstone.files.trec import read_qrels, read_run
from touchstone.scales import Scale

CASES = [*hostile.all_cases(), *hostile_trec.all_cases(), *hostile_records.all_cases()]
KINDS = sorted({case.kind for case in CASES})


def read(case: Case) -> int:
    """How many lines the case's reader takes."""
    source = case.content if isinstance(case.content, str) else io.BytesIO(case.content)
    limits = case.limits or (DOCUMENT_LIMITS if case.kind == "documents" else TREC_LIMITS)
    match case.kind:
        case "run":
            return len(read_run(source, name="file", limits=limits))
        case "run with a rest":
            return len(read_run(source, name="file", limits=limits, text_after_tag=True))
        case "qrels":
            return len(read_qrels(source, name="file", limits=limits))
        case "qrels 0..4":
            return len(read_qrels(source, name="file", limits=limits, scale=Scale.default()))
        case "queries":
            return len(list(read_queries(source, name="file", limits=limits)))
        case "documents":
            return len(list(read_documents(source, name="file", limits=limits)))
    raise AssertionError(case.kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_file_is_refused_with_its_rule_and_line(kind: str) -> None:
    for case in CASES:
        if case.kind != kind or not case.rule:
            continue
        with pytest.raises(FileRefused) as refused:
            read(case)
        first = refused.value.problems[0]
        assert (first.line, first.rule) == (case.line, case.rule), case
        assert case.column in (None, first.column), case
        assert first.message.endswith((".", "?")), case
        assert first.message.isprintable(), case
        assert len(first.message) < 300, case
        assert str(first).startswith(f"file:{case.line}:"), case


@pytest.mark.parametrize("kind", KINDS)
def test_an_odd_file_that_breaks_no_rule_is_taken(kind: str) -> None:
    lines = {str(case): read(case) for case in CASES if case.kind == kind and not case.rule}
    assert all(lines.values()), lines


def test_the_table_is_long_has_no_case_twice_and_knows_every_rule() -> None:
    assert len(CASES) >= 300
    assert [name for name, count in Counter(map(str, CASES)).items() if count > 1] == []
    assert {case.rule for case in CASES if case.rule} == {str(rule) for rule in Rule}


def test_every_rule_is_in_the_docs_and_every_rule_of_the_docs_is_one() -> None:
    page = (Path(__file__).parents[3] / "docs/files.md").read_text(encoding="utf-8")
    table = page.split("## Rules")[1]
    documented = re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)
    assert sorted(documented) == sorted(Rule)
