"""Forms of a collection: making it, and loading files into it."""

from django import forms

from judgments.collections.naming_forms import DescriptionField, NameField, ShortNameField

ACCEPTED = ".csv,.tsv,.txt,.jsonl,.json,.gz"


class CollectionForm(forms.Form):
    """A new collection."""

    name = NameField()
    slug = ShortNameField(example="shop-2026")
    description = DescriptionField()


class UploadForm(forms.Form):
    """A file of queries or documents."""

    file = forms.FileField(
        label="File",
        max_length=255,
        widget=forms.ClearableFileInput(attrs={"accept": ACCEPTED}),
        help_text="At most 200 MB; may be gzipped.",
    )
