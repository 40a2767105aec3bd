"""Long passwords that are easy to guess: sequences, keyboard runs, common ones made longer."""

from typing import Any, Final

from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext

# runs of neighbours, on the keyboards that are sold most and in the alphabet
ROWS: Final = (
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890",
    "`1234567890-=",
    "~!@#$%^&*()_+",
    "qwertyuiop[]",
    "asdfghjkl;'",
    "zxcvbnm,./",
    "qwertzuiopü",
    "yxcvbnm",
    "azertyuiop",
    "qsdfghjklm",
    "wxcvbn",
    *("1qaz", "2wsx", "3edc", "4rfv", "5tgb", "6yhn", "7ujm", "8ik,", "9ol.", "0p;/"),
)
LONGEST_PERIOD: Final = 4  # of a repeated piece, such as "abc1" in "abc1abc1abc1"
# what remains of a twelve-letter word or of random characters is well above
FEWEST_SURPRISES: Final = 7
MOST_ADDED: Final = 8  # digits and signs around a common password, such as "2026!!"
NOT_LETTERS: Final = "".join(chr(code) for code in range(32, 127) if not chr(code).isalpha())
WRITTEN_FOR: Final = str.maketrans("@4301$5!7", "aaeoissit")


class CommonPasswordMadeLongerValidator(CommonPasswordValidator):
    """Refuses a common password, also repeated, with signs for letters, and digits around it."""

    def __init__(self) -> None:
        super().__init__()
        self.passwords |= {"touchstone"}

    def validate(self, password: str, user: Any = None) -> None:
        """Raise ValidationError for a common password. Called by Django's validators."""
        super().validate(password, user)
        text = password.lower()
        for own in (text, text.translate(WRITTEN_FOR)):
            if not self.passwords.isdisjoint({_repeated(own), _repeated(_without_added(own))}):
                raise ValidationError(self.get_error_message(), code="password_too_common")


def _repeated(text: str) -> str:
    """What a text repeats: "abc" of "abcabc", and itself where it repeats nothing."""
    return text[: (text + text).find(text, 1)]


def _without_added(text: str) -> str:
    word = text.strip(NOT_LETTERS)
    return word if len(text) - len(word) <= MOST_ADDED else text


class PredictablePasswordValidator:
    """Refuses a password in which nearly every character follows from those before it."""

    def validate(self, password: str, user: object = None) -> None:
        """Raise ValidationError for a predictable password. Called by Django's validators."""
        if count_surprises(password) < FEWEST_SURPRISES:
            raise ValidationError(
                gettext(
                    "This password is easy to guess: repeated characters, sequences and keyboard "
                    "runs count as one character."
                ),
                code="password_predictable",
            )

    def get_help_text(self) -> str:
        """The rule, shown below the field."""
        return gettext(
            "Your password can’t be made of repeated characters, sequences like “1234” or "
            "keyboard runs like “qwerty”."
        )


def count_surprises(password: str) -> int:
    """How many characters do not follow from those before them. Case does not count."""
    text = password.lower()
    return sum(not _is_predictable(text, place) for place in range(len(text)))


def _is_predictable(text: str, place: int) -> bool:
    """Whether the character repeats what came before, or continues along a row."""
    if place == 0:
        return False
    pair = text[place - 1 : place + 1]
    if pair[0] == pair[1] or any(pair in row or pair[::-1] in row for row in ROWS):
        return True
    periods = range(2, min(LONGEST_PERIOD, place - 1) + 1)
    return any(pair == text[place - 1 - period : place + 1 - period] for period in periods)
