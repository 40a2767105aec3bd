"""Answers: frozen dataclasses of numbers and names that a page formats and REST serialises."""

from typing import Final

# the metadata of a field that pages show and REST does not
ON_PAGES: Final = {"rest": False}
