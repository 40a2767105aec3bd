"""Which key stands for which grade, and for everything else that an annotator does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from touchstone.errors import DomainError

KEYS = "1234567890"
NAMED_KEYS: Final = frozenset(
    {"ArrowLeft", "ArrowRight", "Backspace", "Delete", "Insert", "Home", "End"}
    | {f"F{number}" for number in (2, 4, 6, 7, 8, 9, 10)}
)
SHORT: Final = {"ArrowLeft": "←", "ArrowRight": "→", "Backspace": "⌫"}
GRADE: Final = "grade-"


class KeysRefused(DomainError):
    """The keys can't be like this; the message says why."""

    def __init__(self, message: str, **values: object) -> None:
        super().__init__("keys_refused", message, **values)


@dataclass(frozen=True)
class Action:
    """Something that an annotator does, with its key.

    usual: the key where no one chose one. words: in English; the page puts them into its language.
    """

    name: str
    usual: str
    words: str
    chosen: str = ""

    @property
    def key(self) -> str:
        return self.chosen or self.usual

    @property
    def shown(self) -> str:
        """The key as it stands on a button."""
        return SHORT.get(self.key, self.key)

    @property
    def shortcut(self) -> str:
        """The key as aria-keyshortcuts writes it."""
        return "Plus" if self.key == "+" else self.key


# in the order in which the page lists them; Escape and Ctrl+Z are no one's to change
ACTIONS: Final = (
    Action("undo", "u", "Undo last label"),
    Action("later", "s", "Later: comes back at the end of this query"),
    Action("cannot", "x", "Can’t tell, and why"),
    Action("skip", "q", "Skip query, and why"),
    Action("note", "n", "Note for this pair"),
    Action("ask", "a", "Ask the lead about this pair"),
    Action("mark", "h", "Highlight evidence: the selected text"),
    Action("older", "ArrowLeft", "Back through your labels"),
    Action("newer", "ArrowRight", "Forward through your labels"),
    Action("list", "v", "List this query, and label in the list"),
    Action("guideline", "g", "Guideline with examples"),
    Action("full", "f", "Full text: the whole document with all its fields"),
    Action("find", "/", "Find in the document"),
    Action("terms", "t", "Highlight query terms, on or off"),
    Action("open", "o", "Open source URL in a new tab"),
    Action("larger", "+", "Larger text"),
    Action("smaller", "-", "Smaller text"),
    Action("wide", "w", "Line width"),
    Action("keys", "?", "Keys"),
)
_DEFAULTS: Final = {
    **{f"{GRADE}{key}": key for key in KEYS},
    **{action.name: action.usual for action in ACTIONS},
}


@dataclass(frozen=True)
class KeyedGrade:
    """A grade as a button: its key, its place on the scale (0 is worst), what it means.

    action: its name among the keys that a person can choose; it goes by the key that the grade
    has of itself, so that a choice holds on every scale.
    """

    code: int
    action: str
    key: str
    position: int
    name: str
    definition: str
    examples: tuple[str, ...]
    counter_examples: tuple[str, ...]


def keyed_grades(
    grades: Sequence[Mapping[str, Any]], chosen: Mapping[str, str] | None = None
) -> tuple[KeyedGrade, ...]:
    """The grades of a guideline, worst first, each with its key.

    Grades that are digits are their own keys; on other scales (-2..4, more than ten grades) the
    keys count from 1 at the worst grade, and grades beyond the tenth have none.
    chosen: what a person changed, see `checked_keys`.
    """
    digits = all(0 <= grade["code"] <= 9 for grade in grades)
    keys = [str(grade["code"]) for grade in grades] if digits else KEYS.ljust(len(grades))
    return tuple(
        KeyedGrade(
            code=grade["code"],
            action=f"{GRADE}{key}".strip(),
            key=(chosen or {}).get(f"{GRADE}{key}", key).strip(),
            position=position,
            name=grade["name"],
            definition=grade["definition"],
            examples=tuple(grade["examples"]),
            counter_examples=tuple(grade["counter_examples"]),
        )
        for position, (grade, key) in enumerate(zip(grades, keys, strict=False))
    )


def keyed_actions(chosen: Mapping[str, str]) -> dict[str, Action]:
    """Every action by its name, with the person's own key where they chose one."""
    return {action.name: replace(action, chosen=chosen.get(action.name, "")) for action in ACTIONS}


def checked_keys(data: object) -> dict[str, str]:
    """The keys that differ from the usual ones, by action, as they can be stored.

    data: {action: key}; a key is one visible character or one of NAMED_KEYS.
    Raises KeysRefused for what is no action or no key, and for a key with two meanings.
    """
    if not isinstance(data, Mapping):
        raise KeysRefused("Send an object of keys by action.")
    for action, key in data.items():
        if action not in _DEFAULTS:
            raise KeysRefused("Unknown action.")
        if not _is_key(key):
            raise KeysRefused("That key can’t be used.")
    meanings: dict[str, str] = {}
    for action, key in (_DEFAULTS | dict(data)).items():
        if key in meanings:
            raise KeysRefused("The key {key} is assigned twice.", key=SHORT.get(key, key))
        meanings[key] = action
    return {action: key for action, key in data.items() if key != _DEFAULTS[action]}


def _is_key(key: object) -> bool:
    if not isinstance(key, str):
        return False
    return key in NAMED_KEYS or (len(key) == 1 and key.isprintable() and not key.isspace())
