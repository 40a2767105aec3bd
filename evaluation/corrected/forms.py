"""The form that draws queries for people."""

import secrets
from typing import Any

from django import forms

from judgments.samples.forms import SEEDS
from touchstone.statistics.corrected import FEWEST_JUDGED


class DrawForm(forms.Form):
    """How many queries, and the seed. wanted: what the interval asked for takes."""

    n = forms.IntegerField(
        label="Queries",
        min_value=FEWEST_JUDGED,
        help_text="People judge each of them completely: every document that the machine judged.",
    )
    seed = forms.IntegerField(
        label="Seed", min_value=0, max_value=2**63 - 1, help_text="The same seed draws the same."
    )

    def __init__(self, *args: Any, wanted: int | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["n"].initial = wanted
        self.fields["seed"].initial = secrets.randbelow(SEEDS)
