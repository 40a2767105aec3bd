"""The guideline under which the demo's collection is judged."""

from pathlib import Path

GUIDELINE_FILE = Path(__file__).with_name("guideline.md")


def guideline() -> str:
    """The guideline's text, in Markdown."""
    return GUIDELINE_FILE.read_text(encoding="utf-8")
