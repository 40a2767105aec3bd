"""The form of a comparison."""

from collections.abc import Sequence
from typing import Any

from django import forms

from evaluation.models import DataSet


class ComparisonForm(forms.Form):
    """Which other data set to compare with."""

    other = forms.ChoiceField(label="Compare with")

    def __init__(self, *args: Any, others: Sequence[DataSet], **kwargs: Any) -> None:
        """others: to choose from."""
        super().__init__(*args, **kwargs)
        field = self.fields["other"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(one.slug, one.name) for one in others]
