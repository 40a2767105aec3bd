"""The forms in which a lead decides a pair, and says which pairs to see."""

from datetime import UTC, datetime
from typing import Any, Final

from django import forms

from annotation.adjudication.filters import Narrowing
from touchstone.scales import Scale

LATEST: Final = 4e9  # in the year 2096


class NarrowForm(forms.Form):
    """By what was said of them pairs are narrowed: the links of the quality report."""

    person = forms.CharField(max_length=150, required=False)
    other = forms.CharField(max_length=150, required=False)
    grade = forms.IntegerField(min_value=-128, max_value=127, required=False)
    revision = forms.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    since = forms.FloatField(min_value=0, max_value=LATEST, required=False)
    until = forms.FloatField(min_value=0, max_value=LATEST, required=False)
    segment = forms.CharField(max_length=200, required=False, strip=False)
    gold = forms.BooleanField(required=False)
    error = forms.IntegerField(min_value=-255, max_value=255, required=False)
    likely = forms.IntegerField(min_value=-128, max_value=127, required=False)

    def narrowing(self) -> Narrowing:
        """What was asked for, as far as it can be read; times are seconds of the epoch."""
        self.full_clean()
        said = self.cleaned_data
        return Narrowing(
            people=tuple(filter(None, (said.get("person"), said.get("other")))),
            grade=said.get("grade"),
            revision=said.get("revision"),
            since=_moment(said.get("since")),
            until=_moment(said.get("until")),
            segment=said.get("segment") if "segment" in self.data else None,
            gold=said.get("gold", False),
            error=said.get("error"),
            likely=said.get("likely"),
        )


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


class DecisionForm(forms.Form):
    """A grade and why; the grade is the button that was pressed."""

    grade = forms.TypedChoiceField(
        coerce=int,
        error_messages={
            "required": "Choose a grade.",
            "invalid_choice": "Choose one of the list’s grades.",
        },
    )
    reason = forms.CharField(
        label="Reason",
        max_length=4000,
        error_messages={"required": "Give a reason; a few words are enough."},
        help_text="Stored with the version. Useful when you revise the guideline.",
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto", "class": "low"}),
    )
    as_gold = forms.BooleanField(
        label="Also use as gold",
        required=False,
        help_text="Checks annotators who have not labelled this pair.",
    )

    def __init__(self, *args: Any, scale: Scale, **options: Any) -> None:
        super().__init__(*args, **options)
        field = self.fields["grade"]
        assert isinstance(field, forms.TypedChoiceField)
        field.choices = [(grade.code, grade.name) for grade in scale.grades]


class WhyForm(forms.Form):
    """Why a decision is reopened, or one more label requested."""

    why = forms.CharField(
        label="Reason",
        max_length=4000,
        widget=forms.TextInput(attrs={"dir": "auto"}),
        error_messages={"required": "Give a reason; a few words are enough."},
    )


class NearForm(forms.Form):
    """How all pairs whose labels are a step apart are decided at once."""

    takes = forms.ChoiceField(
        label="Take",
        choices=(("worse", "the worse of the two grades"), ("better", "the better of the two")),
        widget=forms.RadioSelect,
    )
    near_reason = forms.CharField(
        label="Reason", max_length=4000, widget=forms.TextInput(attrs={"dir": "auto"})
    )
