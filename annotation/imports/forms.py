"""A file of labels that were given elsewhere."""

from collections.abc import Sequence
from typing import Any

from django import forms

from annotation.campaigns.forms import ListField
from annotation.imports.files import MAX_NAMES_CHARACTERS, read_names
from judgments.models import JudgmentList
from touchstone.errors import DomainError


class LabelImportForm(forms.Form):
    """The file, the campaign that its labels become, and who is who."""

    file = forms.FileField(
        label="File",
        max_length=255,
        help_text="CSV or JSONL, as below. At most 200 MB; may be gzipped.",
    )
    judgment_list = ListField()
    campaign = forms.CharField(
        label="Campaign",
        max_length=200,
        help_text="A new name creates a closed campaign; an existing name adds labels to it.",
        widget=forms.TextInput(attrs={"dir": "auto"}),
    )
    names = forms.CharField(
        label="Accounts",
        required=False,
        max_length=MAX_NAMES_CHARACTERS,
        help_text="One “agent_1 = ben” per line, to map a name in the file to a member’s "
        "username. Members’ usernames need no line. Other names become accounts that can’t sign "
        "in.",
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    create = forms.BooleanField(
        label="Create unknown queries and documents as stubs",
        required=False,
        help_text="A stub is an id without text.",
    )

    def __init__(self, *args: Any, lists: Sequence[JudgmentList], **more: Any) -> None:
        super().__init__(*args, **more)
        field = self.fields["judgment_list"]
        assert isinstance(field, ListField)
        field.offer(lists)

    def clean_names(self) -> str:
        """The lines as they are, if they can be read."""
        names = str(self.cleaned_data["names"])
        try:
            read_names(names)
        except DomainError as error:
            raise forms.ValidationError(error.message) from error
        return names
