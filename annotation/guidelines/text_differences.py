"""What differs between two states of a text, for people to read."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

KEPT: Final = "kept"
ADDED: Final = "added"
REMOVED: Final = "removed"
MOST: Final = 2_000  # comparing takes time by the square: longer passages differ as one
_WORDS: Final = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True)
class Passage:
    """A stretch of text that is in both states, only in the new one, or only in the old one."""

    kind: str
    text: str


def changed_wording(old: str, new: str) -> list[Passage]:
    """The passages of both texts in reading order; what was removed stands before what was added.

    Lines are compared first, and then the words of lines that differ. All that is not `added`,
    joined, is the old text; all that is not `removed` is the new one.
    """
    passages: list[Passage] = []
    for passage in _passages(old.splitlines(keepends=True), new.splitlines(keepends=True)):
        if passages and passages[-1].kind == passage.kind:
            passages[-1] = Passage(passage.kind, passages[-1].text + passage.text)
        else:
            passages.append(passage)
    return passages


def _passages(old: Sequence[str], new: Sequence[str]) -> Iterator[Passage]:
    for before, after in _blocks(old, new):
        if before == after:
            yield Passage(KEPT, "".join(before))
            continue
        words_before, words_after = (_WORDS.findall("".join(lines)) for lines in (before, after))
        for removed, added in _blocks(words_before, words_after):
            if removed == added:
                yield Passage(KEPT, "".join(removed))
                continue
            if removed:
                yield Passage(REMOVED, "".join(removed))
            if added:
                yield Passage(ADDED, "".join(added))


def _blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    if max(len(old), len(new)) > MOST:
        yield list(old), list(new)
        return
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for _, start, end, new_start, new_end in matcher.get_opcodes():
        yield list(old[start:end]), list(new[new_start:new_end])
