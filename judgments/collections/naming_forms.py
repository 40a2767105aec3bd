"""The fields of something new that has a name, and a short one for addresses."""

from django import forms

from judgments.models.collections import SLUG


class NameField(forms.CharField):
    """What it is called; the first field of its form."""

    def __init__(self) -> None:
        super().__init__(
            label="Name", max_length=200, widget=forms.TextInput(attrs={"autofocus": True})
        )


class ShortNameField(forms.CharField):
    """What addresses and commands call it; the browser proposes it from the name."""

    def __init__(self, *, example: str, used_in: str = "addresses and commands") -> None:
        super().__init__(
            label="Short name",
            max_length=64,
            validators=[SLUG],
            help_text=f"Used in {used_in}, such as “{example}”. Can’t be changed later.",
            widget=forms.TextInput(attrs={"data-proposed": ""}),
        )


class DescriptionField(forms.CharField):
    """More about it, if there is more to say."""

    def __init__(self, *, help_text: str = "") -> None:
        super().__init__(
            label="Description",
            max_length=2000,
            required=False,
            widget=forms.Textarea(attrs={"rows": 3}),
            help_text=help_text,
        )
