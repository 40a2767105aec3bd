"""Serializers made from dataclasses: which fields, of which kinds, and what is left out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

import pytest
from rest_framework import serializers

from judgments.pages.answers import ON_PAGES
from judgments.rest.answers import AnswerSerializer, WordsField, serializer_of

ID = UUID("12345678-1234-5678-1234-567812345678")


@dataclass(frozen=True)
class Mean:
    """A mean over `n` queries."""

    value: float | None
    n: int
    label: str = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class Report:
    """A report. means: by name.

    On pages, address: of its page.
    """

    id: UUID
    best: Mean | None
    every: tuple[Mean, ...]
    means: Mapping[str, Mean]
    names: tuple[str | None, ...]
    address: str = field(metadata=ON_PAGES)


class ReportOutput(AnswerSerializer):
    answer = Report
    verdict = WordsField(lambda report: f"{len(report.every)} at {report.address}")


def test_an_answer_is_its_fields_as_json_without_those_of_pages() -> None:
    mean = Mean(0.5, 3, "BM25 / run 1")
    report = Report(ID, None, (mean,), {"nDCG@10": Mean(None, 0, "")}, ("a", None), "/here")
    assert ReportOutput(report).data == {
        "id": str(ID),
        "best": None,
        "every": [{"value": 0.5, "n": 3}],
        "means": {"nDCG@10": {"value": None, "n": 0}},
        "names": ["a", None],
        "verdict": "1 at /here",
    }


def test_what_may_be_missing_says_so_and_nothing_else_does() -> None:
    nullable = {name for name, one in ReportOutput().fields.items() if one.allow_null}
    assert nullable == {"best"}
    assert serializer_of(Mean)().fields["value"].allow_null


def test_the_docstring_describes_it_as_far_as_rest_shows_it() -> None:
    assert ReportOutput.__doc__ == "A report. means: by name."
    assert serializer_of(Mean).__qualname__ == "MeanOutput"


def test_a_declared_field_stands_for_the_dataclass_own() -> None:
    class Output(AnswerSerializer):
        """In words of its own."""

        answer = Mean
        n = serializers.CharField()

    assert Output(Mean(None, 3, "")).data == {"value": None, "n": "3"}
    assert Output.__doc__ == "In words of its own."


def test_a_type_without_a_place_in_json_is_refused() -> None:
    @dataclass(frozen=True)
    class Odd:
        own: complex

    with pytest.raises(TypeError, match="no place in JSON"):
        _ = serializer_of(Odd)().fields
