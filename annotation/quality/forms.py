"""What labels cost, and how many more are wanted, for the quality report."""

from typing import Any

from django import forms
from django.conf import settings

from annotation.quality.costs import Rates


class RateForm(forms.Form):
    """What an hour or a label costs, instead of the price that a campaign has; not stored."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["rate"].label = f"Rate, in {settings.CURRENCY}"

    rate = forms.DecimalField(
        label="Rate", min_value=0, max_value=1_000_000, decimal_places=4, required=False
    )
    per = forms.ChoiceField(
        label="Per", choices=[("hour", "per hour"), ("label", "per label")], required=False
    )

    def rates(self) -> Rates:
        """The rate as what it is per; none where none was given or sensible."""
        rate = self.cleaned_data.get("rate") if self.is_valid() else None
        if rate is None:
            return Rates()
        is_per_label = self.cleaned_data.get("per") == "label"
        return Rates(per_label=float(rate)) if is_per_label else Rates(hourly=float(rate))
