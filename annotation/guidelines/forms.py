"""The form of a guideline."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.forms import BoundField

from annotation.guidelines.rules import (
    MAX_EXAMPLES,
    MAX_TEXT_CHARACTERS,
    MAX_WORDS_CHARACTERS,
    GradeText,
)


@dataclass(frozen=True)
class GradeFields:
    """The fields of one grade in a guideline's form. position: 0 is the worst grade."""

    position: int
    code: int
    name: str
    definition: BoundField
    examples: BoundField
    counter_examples: BoundField


class GuidelineForm(forms.Form):
    """A revision of a guideline: its text, and what it says of every grade of a scale.

    grades: what the form begins with, one for each grade of the scale, worst first.
    """

    name = forms.CharField(
        label="Name", max_length=200, widget=forms.TextInput(attrs={"autofocus": True})
    )
    text = forms.CharField(
        label="Text",
        required=False,
        max_length=MAX_TEXT_CHARACTERS,
        help_text="What annotators read first: the task, how to interpret a query, what to do when "
        "unsure. Markdown: # headings, **bold**, - lists, tables.",
        widget=forms.Textarea(attrs={"rows": 12, "dir": "auto"}),
    )
    base = forms.IntegerField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, grades: Sequence[Mapping[str, Any]], **options: Any) -> None:
        super().__init__(*args, **options)
        self.grades = grades
        for position, grade in enumerate(grades):
            code = grade["code"]
            self.fields[f"definition_{code}"] = forms.CharField(
                label="Definition",
                max_length=MAX_WORDS_CHARACTERS,
                initial=grade["definition"],
                widget=_area(rows=2, placeholder=_question(grades, position)),
            )
            for kind, label in (("examples", "For example"), ("counter_examples", "But not")):
                self.fields[f"{kind}_{code}"] = forms.CharField(
                    label=label,
                    required=False,
                    max_length=MAX_EXAMPLES * (MAX_WORDS_CHARACTERS + 2),
                    initial="\n".join(grade[kind]),
                    widget=_area(rows=2, placeholder="One per line"),
                )

    def grade_fields(self) -> Iterator[GradeFields]:
        """The fields by grade, best first, as people look for them."""
        for position, grade in reversed(list(enumerate(self.grades))):
            code = grade["code"]
            yield GradeFields(
                position,
                code,
                grade["name"],
                self[f"definition_{code}"],
                self[f"examples_{code}"],
                self[f"counter_examples_{code}"],
            )

    def cleaned_grades(self) -> list[GradeText]:
        """What was typed for each grade, as the services take it."""
        data = self.cleaned_data
        return [
            {
                "code": grade["code"],
                "definition": data[f"definition_{grade['code']}"],
                "examples": data[f"examples_{grade['code']}"].splitlines(),
                "counter_examples": data[f"counter_examples_{grade['code']}"].splitlines(),
            }
            for grade in self.grades
        ]

    def rebase(self, number: int) -> None:
        """Let the form, as it is shown again, be about the revision with this number."""
        self.data = dict(self.data.items()) | {"base": str(number)}


class ExampleForm(forms.Form):
    """An example on its way into a guideline: the grade that it is of, and as what."""

    grade = forms.IntegerField(min_value=-128, max_value=127)
    kind = forms.ChoiceField(choices=[("examples", ""), ("counter_examples", "")], required=False)
    example = forms.CharField(max_length=MAX_WORDS_CHARACTERS)

    def with_example(self, grades: Sequence[GradeText]) -> list[GradeText]:
        """The grades with the example, in one line, at the end of its grade's; as they are where
        it can't be read."""
        if not self.is_valid():
            return list(grades)
        kind, line = self.cleaned_data["kind"] or "examples", self.cleaned_data["example"].split()
        return [
            grade | {kind: [*grade[kind], " ".join(line)]}
            if grade["code"] == self.cleaned_data["grade"]
            else grade
            for grade in grades
        ]


class PreviewForm(forms.Form):
    """A text on its way to being a guideline's."""

    text = forms.CharField(required=False, max_length=MAX_TEXT_CHARACTERS)


def _area(*, rows: int, placeholder: str) -> forms.Textarea:
    return forms.Textarea(
        attrs={"rows": rows, "placeholder": placeholder, "dir": "auto", "class": "low"}
    )


def _question(grades: Sequence[Mapping[str, Any]], position: int) -> str:
    """What a definition answers: where the grade ends and its neighbours begin."""
    neighbours = [grades[p]["name"] for p in (position - 1, position + 1) if 0 <= p < len(grades)]
    return f"When is a document “{grades[position]['name']}”, not “{'” or “'.join(neighbours)}”?"
