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
        required=False,
        max_length=4000,
        help_text="Stands beside the version that this makes; it helps whoever revises the "
        "guideline.",
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto", "class": "low"}),
    )

    def __init__(self, *args: Any, scale: Scale, **options: Any) -> None:
        super().__init__(*args, **options)
        field = self.fields["grade"]
        assert isinstance(field, forms.TypedChoiceField)
        field.choices = [(grade.code, grade.name) for grade in scale.grades]
