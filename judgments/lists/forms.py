"""Forms of a list: making it, importing into it, releasing and reverting."""

import re
from typing import Any

from django import forms

from judgments.collections.naming_forms import DescriptionField, NameField, ShortNameField
from judgments.models.collections import SLUG
from touchstone.files.format_detection import AUTO
from touchstone.files.learning import TOOLS
from touchstone.files.ratings import FORMATS
from touchstone.files.signals import MOST_CHARACTERS, Signals, SignalsRefused
from touchstone.scales import Grade, Scale, ScaleRefused


class ListForm(forms.Form):
    """A new list and its grade scale."""

    name = NameField()
    slug = ShortNameField(example="main")
    scale = forms.CharField(
        label="Grades",
        max_length=200,
        initial="0..4",
        help_text="Worst to best: 0..4, -2..4, 0,1,3, or values such as 0,0.5,0.9. "
        "Can’t be changed later.",
    )
    grade_names = forms.CharField(
        label="Grade names",
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="One per line, worst to best, without the grade itself. "
        "If empty, 0 to 4 are called Irrelevant, Related, Partly relevant, Highly relevant "
        "and Perfect.",
    )
    description = DescriptionField()

    def clean_scale(self) -> Scale:
        try:
            return Scale.parse(self.cleaned_data["scale"])
        except ScaleRefused as error:
            raise forms.ValidationError(str(error)) from error

    def clean(self) -> dict[str, Any]:
        """Give the scale the names that were typed."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        scale = data.get("scale")
        names = [line.strip() for line in data.pop("grade_names", "").splitlines() if line.strip()]
        if scale is None or not names:
            return data
        if len(names) != len(scale.grades):
            self.add_error(
                "grade_names", f"There are {len(scale.grades)} grades and {len(names)} names."
            )
            return data
        names = _without_grades(names, scale)
        try:
            data["scale"] = Scale(
                tuple(
                    Grade(grade.code, name, grade.value)
                    for grade, name in zip(scale.grades, names, strict=True)
                )
            )
        except ScaleRefused as error:
            self.add_error("grade_names", str(error))
        return data


def _without_grades(names: list[str], scale: Scale) -> list[str]:
    """The names alone where each line begins with its own grade, as in “3 = Perfect”.

    They can't be changed later, and pages show the grade before its name anyway.
    """
    parts = [re.match(r"(\S+?)\s*[=:–—-]\s*(?=\S)", name) for name in names]
    said = [part.group(1) if part else None for part in parts]
    if said != [f"{grade.value:g}" for grade in scale.grades]:
        return names
    return [name[part.end() :] for name, part in zip(names, parts, strict=True) if part]


class QrelsForm(forms.Form):
    """Judgments to import into a list. scale: the list's."""

    file = forms.FileField(
        label="File", max_length=255, help_text="At most 200 MB; may be gzipped."
    )
    format = forms.ChoiceField(
        label="Format",
        choices=[
            (AUTO, "Detect from the first lines"),
            *((one.name, one.title) for one in FORMATS.values()),
        ],
        initial=AUTO,
    )
    signals = forms.CharField(
        label="Grades of its values",
        max_length=MOST_CHARACTERS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Only if the values are not grades. Letters or levels: E=3, S=2, C=1, I=0. "
        "Numbers such as seconds, with lower bounds: >=60=3, >=10=1, >=0=0. "
        "Stored with the version.",
    )
    reason = forms.CharField(
        label="Reason",
        max_length=1000,
        required=False,
        help_text="Stored with the version.",
    )
    create = forms.BooleanField(
        label="Create unknown queries and documents as stubs",
        required=False,
        help_text="A stub is an id without text.",
    )

    def __init__(self, *args: Any, scale: Scale, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.scale = scale

    def clean_signals(self) -> str:
        """What was typed, if it can be meant."""
        text: str = self.cleaned_data["signals"]
        try:
            Signals.parse(text, scale=self.scale)
        except SignalsRefused as error:
            raise forms.ValidationError(error.message) from error
        return text


class LearningForm(forms.Form):
    """Features of pairs, for files that rankers are trained on."""

    features = forms.FileField(
        label="Features",
        max_length=255,
        help_text="CSV with the columns query_id, doc_id and one for each feature. At most 200 MB; "
        "may be gzipped.",
    )
    format = forms.ChoiceField(
        label="For",
        choices=list(TOOLS.items()),
    )


class ReleaseForm(forms.Form):
    """A name for a version."""

    name = forms.CharField(
        label="Name",
        max_length=64,
        validators=[SLUG],
        help_text="For example “2026-spring”. Can’t be changed later.",
        widget=forms.TextInput(attrs={"autofocus": True}),
    )
    notes = forms.CharField(
        label="Notes",
        max_length=5000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="What users of this release should know.",
    )


class AcceptingReleaseForm(ReleaseForm):
    """A name for a version whose labels are not good enough to decide on."""

    accept_quality = forms.BooleanField(
        label="Release these labels although they are not good enough to decide on",
        help_text="The verdict is stored with the release, shown on its page and included in its "
        "citation.",
    )


class RevertForm(forms.Form):
    """Why a list goes back."""

    reason = forms.CharField(
        label="Reason",
        max_length=1000,
        widget=forms.TextInput(attrs={"autofocus": True}),
        help_text="Stored with the new version.",
    )
