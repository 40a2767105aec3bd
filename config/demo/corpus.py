"""The demo's documents: the documentation that comes with the user's own Python.

Nothing is downloaded, and no text of the library is kept in this repository. Python sources are
parsed, never run.
"""

import re
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from config.demo.docstrings import Docstring, is_worth_reading, tidy_text
from config.demo.native_docstrings import native_docstrings
from config.demo.source_docstrings import python_docstrings
from judgments.collections.content_hash import content_hash


@dataclass(frozen=True, slots=True)
class DemoDocument:
    """One document as the importer takes it.

    fields: its `kind` (module, class, function, method, topic) and, but for topics, its `module`.
    """

    docid: str
    title: str
    body: str
    fields: dict[str, str]
    content_hash: str


def standard_library(library: Path | None = None) -> list[DemoDocument]:
    """The documents of this machine's Python, some 4,000, in order of docid.

    library: where the Python sources are; by default where this Python keeps its own.
    Deterministic for one Python. Of documents with the same text (aliases, inherited docstrings)
    the first is kept: built-ins and C modules before Python sources before language topics.
    """
    directory = library or Path(sysconfig.get_paths()["stdlib"])
    sources = [*native_docstrings(), *python_docstrings(directory), *topic_docstrings()]
    return sorted(_documents(sources), key=lambda document: document.docid)


def topic_docstrings() -> Iterator[Docstring]:
    """The language reference's topics, as `help("for")` shows them; none where they are missing."""
    try:
        from pydoc_data.topics import topics  # noqa: PLC0415 - some systems package it apart
    except ImportError:
        return
    for key, text in sorted(topics.items()):
        title, _, body = text.strip().partition("\n")
        without_rule = re.sub(r"\A[*=\-~^]+\n", "", body)
        yield Docstring(key, "topic", "", title.strip(), tidy_text(without_rule))


def _documents(sources: Iterable[Docstring]) -> Iterator[DemoDocument]:
    docids: set[str] = set()
    texts: set[str] = set()
    for source in sources:
        docid = _docid(source)
        text = " ".join(source.text.split())
        if docid in docids or text in texts or not is_worth_reading(text):
            continue
        docids.add(docid)
        texts.add(text)
        fields = {"kind": source.kind}
        if source.module:
            fields["module"] = source.module
        digest = content_hash(source.title, source.text, fields)
        yield DemoDocument(docid, source.title, source.text, fields, digest)


def _docid(source: Docstring) -> str:
    prefix = "topic" if source.kind == "topic" else "py"
    name = re.sub(r"\s+", "-", source.name)
    return f"{prefix}:{name}"
