"""The form of a canary."""

from typing import Any

from django import forms

from evaluation.canaries.queries import CanariesPage


class CanaryForm(forms.Form):
    """What to watch, and how much may change before people are told."""

    judgment_list = forms.ChoiceField(label="List")
    measure = forms.CharField(
        label="Measure",
        max_length=200,
        initial="nDCG@10",
        widget=forms.TextInput(attrs={"class": "mono", "spellcheck": "false"}),
    )
    saved_set = forms.ChoiceField(
        label="Queries", required=False, help_text="A saved set of canary queries, or all judged."
    )
    baseline = forms.ChoiceField(
        label="Baseline", help_text="A run that every snapshot is compared with."
    )
    margin = forms.FloatField(
        label="Allowed fall of the mean",
        min_value=0,
        max_value=1e6,
        initial=0.02,
        help_text="An alert needs the whole 95 % interval of the difference below it.",
    )
    coverage_margin = forms.FloatField(
        label="Allowed fall of judged documents (%)", min_value=0, max_value=100, initial=10
    )
    latency_limit = forms.FloatField(
        label="Slowest 95th percentile (s)", min_value=0.001, max_value=60, required=False
    )
    floor = forms.FloatField(
        label="Lowest mean", required=False, help_text="An alert if the mean is below it."
    )
    rules = forms.CharField(
        label="Rules for queries and boards",
        required=False,
        max_length=10_000,
        help_text=(
            "One per line: “q1: d12 in top 3”, “q1: at least 0.8”, “q1: at most 0.1 below "
            "baseline”, “board: nDCG@10 at least 0.5”, “board: every measure at most 0.02 below "
            "baseline”."
        ),
        widget=forms.Textarea(attrs={"rows": 4, "class": "mono", "spellcheck": "false"}),
    )
    in_a_row = forms.IntegerField(
        label="Snapshots in a row",
        min_value=1,
        max_value=20,
        initial=2,
        help_text="As many as open an incident, or end it.",
    )

    def __init__(self, *args: Any, page: CanariesPage, **kwargs: Any) -> None:
        """page: says what can be chosen."""
        super().__init__(*args, **kwargs)
        for name, choices in (
            ("judgment_list", [(one.slug, one.name) for one in page.lists]),
            ("saved_set", [("", "all judged"), *((one.slug, one.name) for one in page.sets)]),
            ("baseline", list(page.runs)),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices
