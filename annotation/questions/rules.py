"""What may be written in a thread, and when."""

from typing import Final

from annotation.labelling.submissions import checked_words
from touchstone.errors import DomainError

MAX_CHARACTERS: Final = 4_000
MOST_MESSAGES: Final = 200  # in a thread
MOST_WAITING: Final = 50  # questions of one person that no one has answered


class QuestionRefused(DomainError):
    """The message can't be taken; the message of the error says why."""


def checked_message(text: str) -> str:
    """The text without blanks around it. Raises QuestionRefused for none, LabelRefused for one
    that is too long or can't be stored."""
    words = checked_words(text, MAX_CHARACTERS)
    if not words:
        raise QuestionRefused("text_missing", "Write a message first.")
    return words


def check_room(*, messages: int, waiting: int) -> None:
    """Raise QuestionRefused where a thread, or what a person has waiting, is full.

    messages: in the thread. waiting: other questions of the person without an answer.
    """
    if messages >= MOST_MESSAGES:
        raise QuestionRefused(
            "thread_full",
            "This thread has reached {limit} messages, the maximum.",
            limit=MOST_MESSAGES,
        )
    if waiting >= MOST_WAITING:
        raise QuestionRefused(
            "too_many_waiting",
            "You already have {limit} unanswered questions, the maximum.",
            limit=MOST_WAITING,
        )
