"""What the labelling page sends."""

from datetime import datetime
from typing import Any, Final

from django import forms

from annotation.submissions import GRADED, Submission

# outcome, the reason that is stored, and its words on the page
REASONS: Final = (
    ("unjudgeable", "not readable", "Not readable"),
    ("unjudgeable", "wrong language", "Wrong language"),
    ("unsure", "not enough context", "Not enough context to tell"),
    ("unsure", "other", "Something else"),
)


class LabelForm(forms.Form):
    """A grade, or why there is none, as the labelling page posts it where no script runs."""

    id = forms.UUIDField()
    assignment = forms.UUIDField()
    guideline_revision = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    content_hash = forms.CharField(max_length=64, required=False)
    grade = forms.IntegerField(min_value=-128, max_value=127, required=False)
    cannot = forms.ChoiceField(
        choices=[(reason, words) for _, reason, words in REASONS], required=False
    )

    def clean(self) -> dict[str, Any]:
        """Exactly one of both."""
        cleaned = {**self.cleaned_data}
        if (cleaned.get("grade") is None) == (not cleaned.get("cannot")):
            raise forms.ValidationError("Give a grade, or say why you can’t.")
        return cleaned

    def submission(self, *, made_at: datetime) -> Submission:
        """The label that a valid form stands for."""
        said = {**self.cleaned_data}
        reason = said.pop("cannot")
        outcomes = {known: outcome for outcome, known, _ in REASONS}
        outcome = outcomes.get(reason, GRADED)
        return Submission(**said, outcome=outcome, reason=reason, made_at=made_at)
