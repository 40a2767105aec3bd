"""What a guideline must say of each grade of a scale."""

from collections.abc import Mapping
from typing import Any, Final

from touchstone.errors import DomainError
from touchstone.scales import Grade, Scale

MAX_TEXT_CHARACTERS: Final = 100_000
MAX_WORDS_CHARACTERS: Final = 4_000
MAX_EXAMPLES: Final = 20
KEYS: Final = frozenset({"code", "name", "definition", "examples", "counter_examples"})

GradeText = dict[str, Any]


class GuidelineRefused(DomainError):
    """The guideline can't be like this; the message says what to change."""

    def __init__(self, message: str, code: str = "guideline_refused") -> None:
        super().__init__(code, message)


def checked_text(text: str) -> str:
    """The Markdown text of a guideline, without blanks around it. Raises GuidelineRefused."""
    return _checked_words(text, "Instructions", limit=MAX_TEXT_CHARACTERS)


def checked_grades(data: object, scale: Scale) -> list[GradeText]:
    """What the guideline says of every grade, worst first, as it is stored.

    data: a list of {"code", "definition", "examples", "counter_examples"} in any order; examples
    are lists of texts and may be left out. The names are the scale's.
    Raises GuidelineRefused unless every grade of the scale is there once, with a definition.
    """
    if not isinstance(data, list) or not all(isinstance(item, Mapping) for item in data):
        raise GuidelineRefused("“grades” must be a list.")
    given = [item.get("code") for item in data]
    if any(isinstance(code, bool) or not isinstance(code, int) for code in given):
        raise GuidelineRefused("Every grade needs a “code”, a whole number.")
    if sorted(given) != sorted(scale.codes):
        codes = ", ".join(map(str, scale.codes))
        raise GuidelineRefused(f"Define each grade exactly once: {codes}.")
    by_code = {item["code"]: item for item in data}
    return [_checked_grade(by_code[grade.code], grade) for grade in scale.grades]


def empty_grades(scale: Scale) -> list[GradeText]:
    """The grades of a scale with nothing said yet: what an empty form begins with."""
    return [
        {
            "code": grade.code,
            "name": grade.name,
            "definition": "",
            "examples": [],
            "counter_examples": [],
        }
        for grade in scale.grades
    ]


def _checked_grade(item: Mapping[str, Any], grade: Grade) -> GradeText:
    unknown = item.keys() - KEYS
    if unknown:
        raise GuidelineRefused(f"Unknown field of a grade: {min(map(str, unknown))}.")
    where = f"Grade {grade.code} ({grade.name})"
    definition = _checked_words(item.get("definition", ""), where)
    if not definition:
        raise GuidelineRefused(f"{where} needs a definition.", "definition_missing")
    return {
        "code": grade.code,
        "name": grade.name,
        "definition": definition,
        "examples": _checked_examples(item.get("examples", []), where),
        "counter_examples": _checked_examples(item.get("counter_examples", []), where),
    }


def _checked_examples(examples: object, where: str) -> list[str]:
    if not isinstance(examples, list) or len(examples) > MAX_EXAMPLES:
        raise GuidelineRefused(f"{where}: examples must be a list of at most {MAX_EXAMPLES}.")
    texts = [_checked_words(example, where) for example in examples]
    return [text for text in texts if text]


def _checked_words(words: object, where: str, *, limit: int = MAX_WORDS_CHARACTERS) -> str:
    if not isinstance(words, str):
        raise GuidelineRefused(f"{where}: must be text.")
    words = words.strip()
    if len(words) > limit:
        raise GuidelineRefused(f"{where}: must have at most {limit:,} characters.")
    if "\0" in words or not _is_unicode(words):
        raise GuidelineRefused(f"{where}: contains characters that can't be stored.")
    return words


def _is_unicode(words: str) -> bool:
    try:
        words.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True
