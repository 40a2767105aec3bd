"""How a release is cited, in plain words and for BibTeX."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

_LATEX: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}


def latex(text: str) -> str:
    """Text on one line, so that LaTeX shows it as it is."""
    return " ".join("".join(_LATEX.get(c, c) for c in text).split())


@dataclass(frozen=True, slots=True)
class Cited:
    """A release, as a paper names it. url: the address that stays.

    caveat: the verdict on its labels where they were not good enough to decide on.
    """

    collection: str
    collection_slug: str
    list_name: str
    list_slug: str
    release: str
    version: int
    sha256: str
    released_at: datetime
    url: str
    caveat: str = ""

    @property
    def plain(self) -> str:
        """One sentence."""
        return (
            f"{self.collection}: {self.list_name}, release {self.release} "
            f"(version {self.version}, {self.released_at:%Y-%m-%d}). Relevance judgments. "
            f"{self.url}. SHA-256 {self.sha256}.{self._caveat}"
        )

    @property
    def _caveat(self) -> str:
        return f" Quality of the labels when released: {self.caveat}" if self.caveat else ""

    @property
    def bibtex(self) -> str:
        """An entry of the kind `misc`, which every style knows."""
        key = re.sub(r"[^a-z0-9]+", "-", f"{self.collection_slug}-{self.list_slug}-{self.release}")
        # \url takes its address as it is, but for what would end it
        address = self.url.replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C")
        title = latex(f"{self.collection}: {self.list_name}, release {self.release}")
        caveat = f". {latex(self._caveat)}" if self.caveat else ""
        return (
            f"@misc{{{key},\n"
            f"  title = {{{{{title}}}}},\n"
            f"  year = {{{self.released_at:%Y}}},\n"
            f"  howpublished = {{\\url{{{address}}}}},\n"
            f"  note = {{Relevance judgments, version {self.version}, SHA-256 {self.sha256}"
            f"{caveat}}}\n"
            "}"
        )
