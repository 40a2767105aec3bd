"""The form of a sample."""

import secrets
from collections.abc import Callable
from typing import Any, Final, TypeVar

from django import forms

from judgments.models import JudgmentList, SamplePlan
from judgments.permissions import Access
from judgments.samples.designs import (
    MOST,
    OPTIMAL,
    PER_QUERY,
    PER_SEARCH,
    QUERIES,
    SEARCHES,
    Allocated,
    Design,
    allocate,
)
from judgments.traffic.queries import parse_cuts
from touchstone.sampling.designs import check_seed
from touchstone.sampling.errors import SamplingError
from touchstone.sampling.traffic import Concentration

Given = TypeVar("Given")
Found = TypeVar("Found")

EQUAL, BY_SIZE = "equal", "size"
SEEDS: Final = 10**6  # of which one is proposed


class SampleForm(forms.Form):
    """A design. concentration: of the frame. `allocated` is what the design makes of it."""

    name = forms.CharField(
        label="Name", max_length=200, required=False, help_text="Such as “November, 400 queries”."
    )
    judgment_list = forms.ModelChoiceField(
        JudgmentList.objects.none(),
        label="Judged on",
        empty_label=None,
        help_text="The list that gets the grades of the drawn queries.",
    )
    n = forms.IntegerField(
        label="Queries", required=False, min_value=2, max_value=MOST, help_text="How many to draw."
    )
    cuts = forms.CharField(
        label="Strata: cuts, in % of searches",
        required=False,
        max_length=100,
        help_text="Leave empty to draw from the whole frame at once.",
    )
    chances = forms.ChoiceField(
        label="Inclusion probability within a stratum",
        choices=[
            (EQUAL, "equal (simple random)"),
            (BY_SIZE, "proportional to searches (sequential Poisson)"),
        ],
        help_text="In proportion to searches suits means per search. The most frequent queries "
        "are then certain to be drawn.",
    )
    allocation = forms.ChoiceField(
        label="Queries of each stratum",
        choices=[
            (SEARCHES, "in proportion to searches"),
            (QUERIES, "in proportion to queries"),
            (OPTIMAL, "optimal for the smallest standard error"),
        ],
    )
    target = forms.ChoiceField(
        label="Optimal for the mean",
        choices=[(PER_SEARCH, "per search"), (PER_QUERY, "per query")],
    )
    spreads = forms.CharField(
        label="Standard deviation of each stratum",
        required=False,
        max_length=200,
        help_text="Expected, of the measure or of paired differences; one, or one per stratum. "
        "If empty, 0.3.",
    )
    costs = forms.CharField(
        label="Labels per query of each stratum",
        required=False,
        max_length=200,
        help_text="Overlap and gold included; one, or one per stratum. Needed for a budget.",
    )
    budget = forms.FloatField(
        label="Budget, in labels",
        required=False,
        min_value=1,
        help_text="Instead of a number of queries: the optimal allocation that it pays for.",
    )
    seed = forms.IntegerField(
        label="Seed",
        min_value=0,
        max_value=2**63 - 1,
        help_text="The same seed draws the same queries. Keep the last sample’s seed for the next "
        "month: queries already judged are then drawn again wherever their probability allows.",
    )

    def __init__(
        self, *args: Any, access: Access, concentration: Concentration, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.concentration = concentration
        self.allocated: Allocated | None = None
        lists: Any = self.fields["judgment_list"]
        lists.label_from_instance = lambda one: one.name
        lists.queryset = JudgmentList.objects.filter(collection=access.collection)
        last = SamplePlan.objects.filter(list__collection=access.collection).order_by("-pk").first()
        self.fields["seed"].initial = last.seed if last else secrets.randbelow(SEEDS)

    @property
    def rows(self) -> list[tuple[str, int, int]]:
        """The name of each stratum, its queries and how many of them are drawn."""
        result = self.allocated
        assert result is not None
        columns = result.strata.queries.tolist(), result.n.tolist()
        return list(zip(result.strata.names, *columns, strict=True))

    def clean_cuts(self) -> tuple[float, ...]:
        return self._checked(parse_cuts, self.cleaned_data["cuts"])

    def clean_spreads(self) -> tuple[float, ...]:
        return self._checked(_numbers, self.cleaned_data["spreads"])

    def clean_costs(self) -> tuple[float, ...]:
        return self._checked(_numbers, self.cleaned_data["costs"])

    def clean_seed(self) -> int:
        seed = int(self.cleaned_data["seed"])
        self._checked(check_seed, seed)
        return seed

    def clean(self) -> dict[str, Any]:
        """Turn the fields into a `design`."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return data
        is_budget = data["budget"] is not None
        if is_budget == (data["n"] is not None):
            raise forms.ValidationError("Enter a number of queries or a budget, not both.")
        data["design"] = Design(
            by_size=data["chances"] == BY_SIZE,
            cuts=data["cuts"],
            n=data["n"],
            allocation=OPTIMAL if is_budget else data["allocation"],
            target=data["target"],
            spreads=data["spreads"],
            costs=data["costs"],
            budget=data["budget"],
        )
        self.allocated = self._checked(
            lambda design: allocate(design, self.concentration), data["design"]
        )
        return data

    def _checked(self, compute: Callable[[Given], Found], value: Given) -> Found:
        try:
            return compute(value)
        except SamplingError as error:
            raise forms.ValidationError(
                error.message[:1].upper() + error.message[1:] + "."
            ) from error


def _numbers(typed: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in typed.split(",") if part.strip())
    except ValueError as error:
        raise SamplingError("enter numbers separated by commas, such as 0.2, 0.3, 0.4") from error
