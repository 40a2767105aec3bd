"""The form of a traffic log."""

from django import forms

from judgments.collections.forms import UploadForm


class TrafficForm(UploadForm):
    """A traffic log, and what it is called."""

    name = forms.CharField(
        label="Name",
        max_length=200,
        help_text="For example “October 2026, all markets”.",
    )
    field_order = ("name", "file")
