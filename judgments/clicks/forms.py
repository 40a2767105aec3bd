"""The form of a click log."""

from operator import attrgetter
from typing import Any

from django import forms

from judgments.clicks.scoring import EXAMINED, FEWEST_IMPRESSIONS, SCORES
from judgments.models import JudgmentList
from judgments.permissions import Access
from touchstone.clicks.ubi import USUAL_ACTIONS

ACCEPTED = ".ndjson,.jsonl,.json,.csv,.parquet,.gz"
BASES = (("", "the smallest rank of each application, if it is 0 or 1"), ("0", "0"), ("1", "1"))


def names_in(text: str) -> list[str]:
    """The names in a text with commas between them, each once."""
    return list(dict.fromkeys(filter(None, (part.strip() for part in text.split(",")))))


class ActionsField(forms.CharField):
    """Names of actions, separated by commas."""

    def __init__(self, *, label: str, initial: tuple[str, ...]) -> None:
        super().__init__(
            label=label,
            max_length=500,
            initial=", ".join(initial),
            help_text="Action names, separated by commas.",
        )

    def clean(self, value: Any) -> list[str]:
        """The names."""
        return names_in(str(super().clean(value)))


class EventsForm(forms.Form):
    """Which actions of a log are evidence."""

    impressions = ActionsField(label="Impressions", initial=USUAL_ACTIONS.impressions)
    clicks = ActionsField(label="Clicks", initial=USUAL_ACTIONS.clicks)

    def clean(self) -> dict[str, Any]:
        """No action is both."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if set(data.get("impressions", ())) & set(data.get("clicks", ())):
            self.add_error("clicks", "An action can’t be both an impression and a click.")
        return data


class ClicksForm(EventsForm):
    """A click log, and how to read it."""

    name = forms.CharField(
        label="Name", max_length=200, help_text="For example “October 2026, web shop”."
    )
    file = forms.FileField(
        label="File",
        max_length=255,
        widget=forms.ClearableFileInput(attrs={"accept": ACCEPTED}),
        help_text="UBI NDJSON or CSV, which may be gzipped, or Parquet. At most 200 MB.",
    )
    rank_base = forms.ChoiceField(label="Rank of the first result", choices=BASES, required=False)
    field_order = ("name", "file", "impressions", "clicks", "rank_base", "joins")
    joins = forms.BooleanField(
        label="Join by query id",
        required=False,
        help_text="Events without a query text get that of the query record with their query id.",
    )

    def clean_rank_base(self) -> int | None:
        """None where the log says it."""
        value = self.cleaned_data["rank_base"]
        return int(value) if value else None


class ComparisonForm(forms.Form):
    """Which grades of people a log is compared with, and by which score."""

    basis = forms.ModelChoiceField(
        label="People’s grades",
        queryset=JudgmentList.objects.none(),
        to_field_name="slug",
        empty_label=None,
    )
    score = forms.ChoiceField(label="Score", choices=tuple(SCORES.items()), initial=EXAMINED)
    fewest = forms.IntegerField(
        label="Fewest impressions", min_value=1, max_value=10**9, initial=FEWEST_IMPRESSIONS
    )

    def __init__(self, *args: Any, access: Access, **more: Any) -> None:
        super().__init__(*args, **more)
        lists = JudgmentList.objects.filter(
            collection=access.collection, archived_at=None
        ).order_by("pk")
        for name in ("basis", "target"):
            if name in self.fields:
                field = self.fields[name]
                assert isinstance(field, forms.ModelChoiceField)
                field.queryset = lists
                field.label_from_instance = attrgetter("name")  # type: ignore[assignment,method-assign]


class GradingForm(ComparisonForm):
    """The list that gets the grades, besides."""

    target = forms.ModelChoiceField(
        label="Grade the pairs of",
        queryset=JudgmentList.objects.none(),
        to_field_name="slug",
        empty_label=None,
        help_text="Pairs with a grade from people keep it. Grades from clicks are replaced.",
    )


class InterleavingForm(EventsForm):
    """An interleaving log, and how to read it."""

    name = forms.CharField(
        label="Name", max_length=200, help_text="For example “BM25 against hybrid, October”."
    )
    file = forms.FileField(
        label="File",
        max_length=255,
        widget=forms.ClearableFileInput(attrs={"accept": ".ndjson,.jsonl,.json,.gz"}),
        help_text="UBI NDJSON, which may be gzipped. At most 200 MB.",
    )
    field_order = ("name", "file", "impressions", "clicks")
