"""What the labelling page sends."""

from datetime import datetime

from django import forms

from annotation.submissions import Submission


class LabelForm(forms.Form):
    """A grade, as the labelling page posts it where no script runs."""

    id = forms.UUIDField()
    assignment = forms.UUIDField()
    guideline_revision = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    content_hash = forms.CharField(max_length=64, required=False)
    grade = forms.IntegerField(min_value=-128, max_value=127)

    def submission(self, *, made_at: datetime) -> Submission:
        """The label that a valid form stands for."""
        return Submission(**self.cleaned_data, made_at=made_at)
