"""The form of a data set's canary."""

from typing import Any, Final

from django import forms

from evaluation.data_set_canaries.queries import DataSetCanariesPage

EVERY_SEGMENT: Final = "*"  # of the choice; no segment's name, which would be taken for it
CHOSEN: Final = "="  # before a segment's name


class DataSetCanaryForm(forms.Form):
    """Which rules to hold against the means, and against which baseline."""

    rules = forms.CharField(
        label="Rules",
        max_length=10_000,
        help_text="One per line: “board: nDCG@10 at least 0.5”, “board: every measure at most 0.02 "
        "below baseline”.",
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono", "spellcheck": "false"}),
    )
    segment = forms.ChoiceField(label="Segment", required=False)
    days = forms.ChoiceField(label="Baseline")
    in_a_row = forms.IntegerField(label="In a row", min_value=1, max_value=20, initial=1)
    fewest = forms.IntegerField(
        label="Fewest queries",
        min_value=2,
        max_value=1_000_000_000,
        initial=100,
        help_text="Nothing is said of fewer.",
    )

    def __init__(self, *args: Any, page: DataSetCanariesPage, **kwargs: Any) -> None:
        """page: says what can be chosen."""
        super().__init__(*args, **kwargs)
        what = "day" if page.data_set.day else "evaluation"
        self.fields["in_a_row"].help_text = f"Bad {what}s that open an incident, good ones end it."
        choices = {
            "segment": [
                ("", "all together"),
                (EVERY_SEGMENT, "every segment"),
                *((f"{CHOSEN}{name}", name) for name in page.segments if name),
            ],
            "days": [
                ("1", f"the {what} before"),
                *((str(n), f"the {n} {what}s before together") for n in (7, 28)),
            ],
        }
        for name, own in choices.items():
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = own
        if not page.data_set.segments:
            del self.fields["segment"]

    def to_canary(self) -> dict[str, Any]:
        """What was entered, as the service takes it."""
        data = self.cleaned_data
        segment = data.get("segment", "")
        return {
            "rules": data["rules"].splitlines(),
            "segment": segment.removeprefix(CHOSEN) if segment.startswith(CHOSEN) else "",
            "is_by_segment": segment == EVERY_SEGMENT,
            "days": int(data["days"]),
            "fewest": data["fewest"],
            "in_a_row": data["in_a_row"],
        }
