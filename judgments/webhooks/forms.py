"""The form of a webhook."""

from django import forms

from judgments.webhooks.events import EVENTS


class WebhookForm(forms.Form):
    """Where events are sent, and which."""

    url = forms.CharField(
        label="URL",
        max_length=2000,
        help_text="Gets a POST for each event. An administrator must allow its server.",
        widget=forms.URLInput(attrs={"class": "mono", "placeholder": "https://"}),
    )
    events = forms.MultipleChoiceField(
        label="Events",
        choices=[(name, f"{name}: {about}") for name, about in EVENTS.items()],
        widget=forms.CheckboxSelectMultiple,
    )
