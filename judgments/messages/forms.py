"""Forms about messages."""

from django import forms
from django.utils.translation import gettext_lazy as _

from judgments.messages.kinds import CHANNELS, KINDS
from judgments.messages.services import LONGEST_ADDRESS


class AddressForm(forms.Form):
    """Where e-mail goes; empty for nowhere."""

    address = forms.EmailField(
        label=_("E-mail address"),
        max_length=LONGEST_ADDRESS,
        required=False,
        help_text=_("A link is sent to a new address; the address is used once you open it."),
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )


class ChoicesForm(forms.Form):
    """Which messages someone wants: "kind channel" for each."""

    wanted = forms.MultipleChoiceField(
        required=False,
        choices=[
            (f"{name} {channel}", name)
            for name, kind in KINDS.items()
            if kind.is_chosen
            for channel in CHANNELS
        ],
    )

    def chosen(self) -> set[tuple[str, str]]:
        """(kind, channel) of all that are wanted."""
        pairs = (value.split(" ") for value in self.cleaned_data["wanted"])
        return {(kind, channel) for kind, channel in pairs}
