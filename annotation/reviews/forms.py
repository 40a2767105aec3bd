"""Forms of reviews."""

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.questions.rules import MAX_CHARACTERS
from judgments.models import User


class ReviewForm(forms.Form):
    """What a reviewer says of a label."""

    label = forms.UUIDField(widget=forms.HiddenInput)
    verdict = forms.CharField(max_length=20)
    reason = forms.CharField(
        label="Reason",
        required=False,
        max_length=MAX_CHARACTERS,
        help_text="Needed to send the label back. The annotator reads it; do not name the grade.",
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
    )


class ReviewsForm(forms.Form):
    """Which share of labels is reviewed, and by whom."""

    percent = forms.IntegerField(
        label="Share of each person’s labels, in percent",
        min_value=0,
        max_value=100,
        help_text="0 for none. Drawn at random, gold and repeats like everything else.",
    )
    reviewers = forms.MultipleChoiceField(
        label="Reviewers",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Members who do not annotate in this campaign.",
    )

    def __init__(self, *args: Any, people: Sequence[User], **options: Any) -> None:
        super().__init__(*args, **options)
        field = self.fields["reviewers"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = [(one.username, str(one)) for one in people]
