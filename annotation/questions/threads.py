"""What threads are shown by, to their annotator and to leads."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import F
from django.db.models.functions import Substr

from annotation.models import Message, Question

BEGINNING: Final = 90  # characters of a text that has no title, or of a message in a list


class InState:
    """What is in a state of Question."""

    state: str

    @property
    def state_words(self) -> str:
        return str(Question.State(self.state).label)


@dataclass(frozen=True)
class MessageShown:
    """is_answer: a lead or a reviewer wrote it. is_return: a reviewer sent the label back by it."""

    is_answer: bool
    text: str
    written_at: datetime
    is_return: bool = False


def list_messages(question_ids: Sequence[int]) -> dict[int, tuple[MessageShown, ...]]:
    """The messages of each question, oldest first."""
    result: dict[int, list[MessageShown]] = {pk: [] for pk in question_ids}
    messages_qs = Message.objects.filter(question__in=list(result)).select_related("words")
    for one in messages_qs.order_by("pk"):
        shown = MessageShown(one.is_answer, one.text, one.written_at, one.is_return)
        result[one.question_id].append(shown)
    return {pk: tuple(messages) for pk, messages in result.items()}


def title_columns(of: str) -> dict[str, F | Substr]:
    """The columns that a document is named by; `of` stands before each."""
    return {
        "own_title": F(f"{of}document__title"),
        "own_body": Substr(f"{of}document__body", 1, BEGINNING),
        "own_url": F(f"{of}document__url"),
    }


def title_of(row: Mapping[str, Any]) -> str:
    parts: Iterable[str] = (row["own_title"], row["own_body"], row["own_url"])
    return next((part for part in parts if part), "")
