"""Forms of a collection: making it, and loading files into it."""

from django import forms

from judgments.models.collections import SLUG

ACCEPTED = ".tsv,.txt,.jsonl,.json,.gz"


class CollectionForm(forms.Form):
    """A new collection."""

    name = forms.CharField(
        label="Name", max_length=200, widget=forms.TextInput(attrs={"autofocus": True})
    )
    slug = forms.CharField(
        label="Short name",
        max_length=64,
        validators=[SLUG],
        help_text="For addresses and commands, such as “shop-2026”. It can't be changed later.",
    )
    description = forms.CharField(
        label="Description",
        max_length=2000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class UploadForm(forms.Form):
    """A file of queries or documents."""

    file = forms.FileField(
        label="File",
        max_length=255,
        widget=forms.ClearableFileInput(attrs={"accept": ACCEPTED}),
        help_text="At most 200 MB; may be gzipped.",
    )
