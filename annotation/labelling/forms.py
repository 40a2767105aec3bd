"""What the labelling page sends."""

from typing import Final

from django import forms
from django.utils.translation import gettext_lazy

from annotation.labelling.own_labels import MOST_SEARCHED, Wanted
from annotation.models import LabellingPreferences, QuerySkip

# outcome, the reason that is stored, and its words on the page
REASONS: Final = (
    ("unjudgeable", "not readable", gettext_lazy("Not readable")),
    ("unjudgeable", "wrong language", gettext_lazy("Wrong language")),
    ("unsure", "not enough context", gettext_lazy("Not enough context to tell")),
    ("unsure", "other", gettext_lazy("Other")),
)


SKIP_REASONS: Final = tuple(("", value, words) for value, words in QuerySkip.Reason.choices)


class PreferencesForm(forms.Form):
    """A person's keys and view of the page, as its module sends them."""

    account = forms.UUIDField()
    keys = forms.JSONField(required=False)  # nothing changed is an empty object
    text_size = forms.TypedChoiceField(
        choices=[(size, f"{size} %") for size in (85, 100, 115, 130, 150, 175, 200)], coerce=int
    )
    line_width = forms.ChoiceField(choices=LabellingPreferences.Width.choices)
    marks_terms = forms.BooleanField(required=False)


class OwnLabelsForm(forms.Form):
    """Which of the own labels a table shows. show: "cannot_tell", "noted" or a grade."""

    q = forms.CharField(max_length=MOST_SEARCHED, required=False)
    show = forms.RegexField(r"cannot_tell|noted|-?[0-9]{1,3}", required=False)

    def wanted(self) -> Wanted:
        """What was asked for, as far as it can be read."""
        self.full_clean()
        show = self.cleaned_data.get("show", "")
        return Wanted(
            search=self.cleaned_data.get("q", ""),
            cannot_tell=show == "cannot_tell",
            noted=show == "noted",
            grade=int(show) if show.lstrip("-").isdecimal() else None,
        )
