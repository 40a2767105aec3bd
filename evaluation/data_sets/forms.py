"""The forms of data sets."""

from typing import Any, Final

from django import forms

from evaluation.data_sets.places import LONGEST
from evaluation.data_sets.plans import Columns

MOST_COLUMNS: Final = 10
CODE: Final = {"class": "mono", "spellcheck": "false", "autocomplete": "off"}


def _column(label: str, initial: str, **more: Any) -> forms.CharField:
    return forms.CharField(
        label=label, max_length=200, initial=initial, widget=forms.TextInput(attrs=CODE), **more
    )


class NamesField(forms.CharField):
    """Names of columns, separated by commas; a tuple."""

    widget = forms.TextInput(attrs=CODE)

    def clean(self, value: Any) -> Any:
        """The names, each once."""
        text = super().clean(value)
        names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
        if len(names) > MOST_COLUMNS:
            raise forms.ValidationError(f"At most {MOST_COLUMNS} columns.")
        return names


class DataSetForm(forms.Form):
    """Where the data set is, what its columns mean, and what is computed."""

    name = forms.CharField(label="Name", max_length=200)
    rankings = forms.CharField(
        label="Address",
        max_length=LONGEST,
        widget=forms.TextInput(attrs=CODE),
        help_text="A file, or a folder with all Parquet files below it.",
    )
    judgments = forms.CharField(
        label="Address of the grades",
        max_length=LONGEST,
        required=False,
        widget=forms.TextInput(attrs=CODE),
        help_text="Only if grades are in a data set of their own, joined by query and document.",
    )
    query = NamesField(
        label="Query columns", initial="user", help_text="Whose ranking a row is of; commas between"
    )
    document = _column("Document column", "item")
    score = _column("Score column", "score")
    grade = _column("Grade column", "grade", help_text="A grade, or a raw signal.")
    signals = forms.CharField(
        label="Grades of a raw signal",
        max_length=2_000,
        required=False,
        widget=forms.TextInput(attrs=CODE),
        help_text="“>=90=3, >=30=1, >=0=0” or “like=2, skip=0”. Empty: the column has grades.",
    )
    measures = forms.CharField(
        label="Measures",
        max_length=2_000,
        initial="nDCG@10",
        widget=forms.TextInput(attrs=CODE),
        help_text="Separated by spaces.",
    )
    segments = NamesField(
        label="Segment columns",
        required=False,
        help_text="Such as country, device; commas between",
    )
    day = _column(
        "Day column", "", required=False, help_text="A user is then a query of its own every day."
    )

    def to_columns(self) -> Columns:
        """What was entered."""
        data = {name: value for name, value in self.cleaned_data.items() if name != "name"}
        return Columns(**data)
