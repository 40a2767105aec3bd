"""What is written in threads and announcements, and which questions a list shows."""

from typing import Any, Final
from uuid import UUID

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy

from annotation.models import Question
from annotation.questions.queries import MOST_SEARCHED, Wanted
from annotation.questions.rules import MAX_CHARACTERS

MOST_READ: Final = 1_000  # at a time
COUNT_DIGITS: Final = 5


class MessageForm(forms.Form):
    """A message of a thread, or an announcement."""

    text = forms.CharField(
        label=gettext_lazy("Message"),
        max_length=MAX_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
    )

    def __init__(self, *args: Any, label: str = "", **options: Any) -> None:
        super().__init__(*args, **options)
        if label:
            self.fields["text"].label = label


class QuestionsForm(forms.Form):
    """Which questions of a campaign are listed, and whether by the names of those who asked."""

    q = forms.CharField(max_length=MOST_SEARCHED, required=False)
    show = forms.ChoiceField(
        choices=[("", gettext_lazy("All")), *Question.State.choices], required=False
    )
    names = forms.BooleanField(required=False)

    def wanted(self) -> Wanted:
        """What was asked for, as far as it can be read."""
        self.full_clean()
        data = self.cleaned_data
        return Wanted(state=data.get("show", ""), search=data.get("q", ""))


def read_items(posted: QueryDict) -> tuple[dict[UUID, int], list[UUID]]:
    """What an annotator has read: threads with how many messages they had, and announcements.

    `question`, as often as wished, is an id and that number with a colon between; `announcement`
    an id. What can't be read is passed over.
    """
    questions: dict[UUID, int] = {}
    for item in posted.getlist("question")[:MOST_READ]:
        name, _, count = item.partition(":")
        result = _uuid(name)
        if result is not None and count.isdecimal() and len(count) <= COUNT_DIGITS:
            questions[result] = int(count)
    ids = map(_uuid, posted.getlist("announcement")[:MOST_READ])
    return questions, [one for one in ids if one is not None]


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
