"""Forms of a collection's pictures."""

from collections.abc import Sequence
from typing import Any, Final

from django import forms
from django.http import QueryDict

from judgments.pictures.queries import PictureField, list_sizes

OF_FIELD: Final = "size:"
AS_TEXT: Final = "text"


class FieldsForm(forms.Form):
    """In which size each field's pictures are shown, if they are.

    chosen: as it is now. suggested: fields that may name pictures.
    """

    other = forms.CharField(
        label="Another field",
        max_length=200,
        required=False,
        help_text="If it is not listed here. Its pictures are shown in medium size.",
    )

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        chosen: Sequence[PictureField],
        suggested: Sequence[str],
    ) -> None:
        super().__init__(data)
        sizes = {one.field: one.size for one in chosen}
        sent = [name.removeprefix(OF_FIELD) for name in data or () if name.startswith(OF_FIELD)]
        other = self.fields.pop("other")
        for number, field in enumerate(dict.fromkeys([*sizes, *suggested, *sent])):
            self.fields[OF_FIELD + field] = forms.ChoiceField(
                label=field,
                choices=[(AS_TEXT, "Shown as text"), *list_sizes()],
                initial=sizes.get(field, AS_TEXT),
                # a field's name may have blanks, which an id has not
                widget=forms.Select(attrs={"id": f"id_size_{number}"}),
            )
        if not self.fields:
            other.label, other.help_text = "Field", "Its pictures are shown in medium size."
        self.fields["other"] = other

    def chosen_sizes(self) -> dict[str, str]:
        """The size of each field that is to be shown as pictures, in order."""
        data: dict[str, Any] = self.cleaned_data
        other = data["other"]
        sizes = {
            name.removeprefix(OF_FIELD): size
            for name, size in data.items()
            if name != "other" and size != AS_TEXT
        }
        return sizes | ({other: "medium"} if other and other not in sizes else {})


class FilesForm(forms.Form):
    """Picture files in an archive."""

    file = forms.FileField(
        label="ZIP archive",
        max_length=255,
        widget=forms.ClearableFileInput(attrs={"accept": ".zip"}),
        help_text="At most 200 MB. Name each file as in the documents’ picture field.",
    )
