"""The form in which a lead decides a pair."""

from typing import Any

from django import forms

from judgments.scales import Scale


class DecisionForm(forms.Form):
    """A grade and why; the grade is the button that was pressed."""

    grade = forms.TypedChoiceField(
        coerce=int, error_messages={"required": "Choose a grade.", "invalid_choice": "Not a grade."}
    )
    reason = forms.CharField(
        label="Reason",
        max_length=4000,
        error_messages={"required": "Say why; a few words are enough."},
        help_text="Stands beside the version that this makes; it helps whoever revises the "
        "guideline.",
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto", "class": "low"}),
    )
    as_gold = forms.BooleanField(
        label="Make it gold as well",
        required=False,
        help_text="Annotators who have not met the pair are checked by it.",
    )

    def __init__(self, *args: Any, scale: Scale, **options: Any) -> None:
        super().__init__(*args, **options)
        field = self.fields["grade"]
        assert isinstance(field, forms.TypedChoiceField)
        field.choices = [(grade.code, grade.name) for grade in scale.grades]


class WhyForm(forms.Form):
    """Why a decision is taken back, or one more label is asked for."""

    why = forms.CharField(
        label="Reason",
        max_length=4000,
        widget=forms.TextInput(attrs={"dir": "auto"}),
        error_messages={"required": "Say why; a few words are enough."},
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
