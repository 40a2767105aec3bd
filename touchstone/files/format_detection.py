"""Which tool's judgments a file holds, told by how it begins."""

import csv
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from touchstone.files.ratings import FORMATS, TREC, RatingFormat, get_format
from touchstone.files.reading import BOM, GZIP_MAGIC, Source

AUTO: Final = "auto"
HEAD: Final = 64 * 1024  # bytes looked at
LINES: Final = 500  # that may be a ranking's
LONGEST_RANK: Final = 9  # digits
OF_JSON: Final = {
    "opensearch": (b'"judgmentRatings"', b'"judgmentScores"'),
    "rre": (b'"topics"', b'"query_groups"', b'"relevant_documents"'),
}


@dataclass(frozen=True)
class RecognisedFormat:
    """A format and by what it was recognised; "" where it was named."""

    form: RatingFormat
    because: str

    @property
    def read_as(self) -> str:
        """The same in words."""
        return self.form.title + (f" ({self.because})" if self.because else "")


def choose_format(source: Source, name: str) -> RecognisedFormat:
    """The format of this name; with "auto" the one that the file seems to have.

    source: a path or a binary file that can seek, which stays where it is. What begins like no
    other format is TREC's, whose reader says what is wrong.
    Raises FormatRefused for a name that no format has.
    """
    if name != AUTO:
        return RecognisedFormat(get_format(name), "")
    form, because = _recognised(head_of(source))
    return RecognisedFormat(FORMATS[form], because)


def _recognised(head: bytes) -> tuple[str, str]:
    stripped = (line.strip(b" \r") for line in head.removeprefix(BOM).split(b"\n"))
    lines = [line for line in stripped if line and not line.startswith(b"#")]
    first = lines[0] if lines else b""
    if first.startswith((b"{", b"[")):
        keys = ((form, key) for form, own in OF_JSON.items() for key in own if key in head)
        form, key = next(keys, ("", b""))
        if form:
            return form, f"it is JSON with the key {key.decode()}"
        return "jsonl", "it begins with a JSON object"
    if _is_ranking(lines):
        return TREC, "its lines are numbered query by query, as those of a run"
    return _of_line(first.decode("utf-8", "replace"))


def _is_ranking(lines: Sequence[bytes]) -> bool:
    """Whether lines of three fields are query, document and rank, which BEIR's qrels resemble.

    So they are where each query's last fields count up from 0 or 1, three times at least.
    """
    ranks: dict[bytes, list[bytes]] = {}
    for line in lines[:LINES]:
        fields = line.split()
        if len(fields) != 3 or not fields[2].isdigit() or len(fields[2]) > LONGEST_RANK:
            return False
        ranks.setdefault(fields[0], []).append(fields[2])
    counted = all(
        own in ([b"%d" % rank for rank in range(start, start + len(own))] for start in (0, 1))
        for own in ranks.values()
    )
    return counted and max(map(len, ranks.values()), default=0) >= 3


def _of_line(text: str) -> tuple[str, str]:
    words = text.split()
    if len(words) == 4 and words[3].lstrip("+-").isdigit():
        return TREC, "its first line has four fields, the last a whole number"
    if text.count("\t") == 2:
        return "beir", "its first line has three fields with tabs between"
    names = [name.strip().lower() for name in next(csv.reader([text]), [])]
    if names[:3] == ["query", "docid", "rating"]:
        return "quepid", "its header is query,docid,rating"
    if len(names) > 1:
        return "csv", "its first line has commas"
    return TREC, "it begins like no other format"


def head_of(source: Source) -> bytes:
    """How the file's text begins; nothing of what can't be read, or not twice."""
    if not isinstance(source, str | os.PathLike):
        position = source.tell()
        head = source.read(HEAD)
        source.seek(position)
    else:
        try:
            head = _head_of_file(Path(source))
        except OSError:  # the reader says what is wrong
            return b""
    if not head.startswith(GZIP_MAGIC):
        return head
    try:
        return zlib.decompressobj(wbits=31).decompress(head, HEAD)
    except zlib.error:
        return b""


def _head_of_file(path: Path) -> bytes:
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(HEAD)
