"""The form of a pool."""

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.models import Pool
from annotation.pooling.queries import PoolPlan
from evaluation.public import RunChoice
from judgments.models import SamplePlan, SavedSet

SAMPLE = "sample:"  # before a sample's number; no slug of a set has a colon
STRATEGIES = {
    Pool.Strategy.DEPTH_K: "All pairs from the top of each run",
    Pool.Strategy.SAMPLE: "A uniform sample of those pairs",
}


class PoolForm(forms.Form):
    """Which pairs a campaign gets; runs are those of the collection."""

    runs = forms.TypedMultipleChoiceField(
        label="Runs",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one run."},
    )
    depth = forms.IntegerField(
        label="Depth",
        min_value=1,
        max_value=10_000,
        help_text="Number of top results per run.",
    )
    saved_set = forms.ChoiceField(
        label="Queries",
        required=False,
        help_text="Choose a sample to estimate means over all queries, a saved set for a pilot.",
    )
    only_unjudged = forms.BooleanField(
        label="Skip pairs that already have a grade in the list", required=False
    )
    strategy = forms.ChoiceField(
        label="Pairs", choices=STRATEGIES, initial=Pool.Strategy.DEPTH_K, widget=forms.RadioSelect
    )
    sample_size = forms.IntegerField(
        label="Sample size", min_value=1, max_value=200_000, required=False
    )
    seed = forms.IntegerField(
        label="Seed",
        min_value=-(2**63),
        max_value=2**63 - 1,
        required=False,
        help_text="The same seed draws the same sample.",
    )

    def __init__(
        self,
        *args: Any,
        choices: list[RunChoice],
        sets: Sequence[SavedSet] = (),
        plans: Sequence[SamplePlan] = (),
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        queries = self.fields["saved_set"]
        assert isinstance(queries, forms.ChoiceField)
        queries.choices = [
            ("", "all"),
            *((f"{SAMPLE}{one.number}", f"sample {one.name} ({one.size:,})") for one in plans),
            *((one.slug, f"set {one.name}") for one in sets),
        ]
        field = self.fields["runs"]
        assert isinstance(field, forms.TypedMultipleChoiceField)
        field.choices = [(str(run.public_id), run.name) for run in choices]
        self.run_choices = choices

    def chosen_runs(self) -> set[str]:
        """The ids of the runs that are ticked, valid or not."""
        return {str(value) for value in self["runs"].value() or ()}

    def clean(self) -> dict[str, Any]:
        """A sample needs a size."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        is_sample = data.get("strategy") == Pool.Strategy.SAMPLE
        if is_sample and "sample_size" not in self.errors and not data.get("sample_size"):
            self.add_error("sample_size", "Enter a sample size.")
        return data

    def plan(self) -> PoolPlan:
        """What a valid form asks for."""
        data = self.cleaned_data
        is_sample = data["strategy"] == Pool.Strategy.SAMPLE
        is_drawn = data["saved_set"].startswith(SAMPLE)
        chosen = {str(value) for value in data["runs"]}
        return PoolPlan(
            runs=tuple(run.public_id for run in self.run_choices if str(run.public_id) in chosen),
            depth=data["depth"],
            only_unjudged=data["only_unjudged"],
            sample_size=data["sample_size"] if is_sample else None,
            seed=data["seed"] or 0,
            saved_set="" if is_drawn else data["saved_set"],
            sample=int(data["saved_set"].removeprefix(SAMPLE)) if is_drawn else None,
        )
