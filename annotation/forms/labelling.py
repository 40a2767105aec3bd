"""What the labelling page sends."""

from datetime import datetime
from typing import Any, Final

from django import forms

from annotation.models import LabellingPreferences, QuerySkip
from annotation.submissions import GRADED, MAX_NOTE_CHARACTERS, Submission

# outcome, the reason that is stored, and its words on the page
REASONS: Final = (
    ("unjudgeable", "not readable", "Not readable"),
    ("unjudgeable", "wrong language", "Wrong language"),
    ("unsure", "not enough context", "Not enough context to tell"),
    ("unsure", "other", "Something else"),
)


SKIP_REASONS: Final = tuple(("", value, words) for value, words in QuerySkip.Reason.choices)


class LabelForm(forms.Form):
    """A grade, or why there is none, as the labelling page posts it where no script runs."""

    id = forms.UUIDField()
    assignment = forms.UUIDField()
    guideline_revision = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    content_hash = forms.CharField(max_length=64, required=False)
    grade = forms.IntegerField(min_value=-128, max_value=127, required=False)
    note = forms.CharField(max_length=MAX_NOTE_CHARACTERS, required=False)
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


class SkipForm(forms.Form):
    """Which query to skip, by a seat of it, and why, as posted where no script runs."""

    skip = forms.UUIDField()
    reason = forms.ChoiceField(choices=QuerySkip.Reason.choices)


class PreferencesForm(forms.Form):
    """A person's keys and view of the page, as its module sends them."""

    account = forms.UUIDField()
    keys = forms.JSONField(required=False)  # nothing changed is an empty object
    text_size = forms.TypedChoiceField(
        choices=[(size, f"{size} %") for size in (85, 100, 115, 130, 150, 175, 200)], coerce=int
    )
    line_width = forms.ChoiceField(choices=LabellingPreferences.Width.choices)
    marks_terms = forms.BooleanField(required=False)
    suggests_pauses = forms.BooleanField(required=False)
