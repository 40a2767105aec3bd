"""The guideline under which the demo's collection is judged."""

import re
from pathlib import Path
from typing import NamedTuple

GUIDELINE_FILE = Path(__file__).with_name("guideline.md")
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
GRADE_HEADING = re.compile(r"(-?\d+) (.+)")
EXAMPLE = "- *Example.* "
COUNTER_EXAMPLE = "- *Counter-example.* "
# What the demo's guideline says since its second revision.
LATER = " A deprecated function that does what is asked still counts, one grade lower."


class GradeWords(NamedTuple):
    """What the guideline says of one grade."""

    code: int
    name: str
    definition: str
    examples: list[str]
    counter_examples: list[str]

    def as_json(self) -> dict[str, object]:
        """As a guideline's revision keeps it; the scale has the name."""
        kept = ("code", "definition", "examples", "counter_examples")
        return {name: value for name, value in self._asdict().items() if name in kept}


def guideline(file: Path = GUIDELINE_FILE) -> str:
    """The whole guideline, in Markdown: what was read before the shipped grades were given."""
    return file.read_text(encoding="utf-8")


def general_text(file: Path = GUIDELINE_FILE) -> str:
    """What the guideline says besides its sections on single grades, in Markdown."""
    opening, *sections = _sections(file)
    kept = [f"## {title}\n{body}" for title, body in sections if not GRADE_HEADING.match(title)]
    return "".join([opening[1], *kept]).strip()


def grade_words(file: Path = GUIDELINE_FILE) -> list[GradeWords]:
    """What the guideline says of each grade, worst first."""
    result = []
    for title, body in _sections(file):
        heading = GRADE_HEADING.match(title)
        if heading:
            lines = body.strip().splitlines()
            definition = " ".join(line for line in lines if line and not line.startswith("- "))
            examples = [_plain(line, EXAMPLE) for line in lines if line.startswith(EXAMPLE)]
            counter = [
                _plain(line, COUNTER_EXAMPLE) for line in lines if line.startswith(COUNTER_EXAMPLE)
            ]
            words = (_plain(definition, ""), examples, counter)
            result.append(GradeWords(int(heading[1]), heading[2], *words))
    return sorted(result)


def _sections(file: Path) -> list[tuple[str, str]]:
    """(title, text) of each section; the opening comes first, without a title."""
    parts = SECTION.split(guideline(file))
    return [("", parts[0]), *zip(parts[1::2], parts[2::2], strict=True)]


def _plain(line: str, prefix: str) -> str:
    """The words of a line without its mark and without Markdown's code ticks."""
    return line.removeprefix(prefix).replace("`", "").strip()
