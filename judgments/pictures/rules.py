"""What a field of a document says of its pictures."""

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

# the longer side, in CSS pixels
SIZES: Final = {"small": 160, "medium": 320, "large": 480}
# a screen has up to two pixels for one of CSS; one copy serves all sizes
LARGEST_SIDE: Final = 2 * max(SIZES.values())
MOST_FIELDS: Final = 10
MOST_OF_A_FIELD: Final = 8
LONGEST_SOURCE: Final = 2_000
MOST_BYTES: Final = 10 * 1024 * 1024  # of a picture as it comes
UPLOADED: Final = "picture:"

_DATA: Final = re.compile(r"\s*data:image/[a-z0-9.+-]{1,40};base64,([a-z0-9+/=\s]*)", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"https?://", re.IGNORECASE)
_FILE: Final = re.compile(r"[^\s:?#]+\.(?:png|jpe?g|gif|webp|avif)", re.IGNORECASE)


@dataclass(frozen=True)
class Source:
    """Where a picture comes from. name: what it is known by. data: where the document has it."""

    name: str
    data: bytes | None = None

    @property
    def key(self) -> str:
        """SHA-256 of the name, as 64 hexadecimal digits."""
        return hashlib.sha256(self.name.encode()).hexdigest()

    @property
    def is_address(self) -> bool:
        """Whether it is to be fetched, and not to be uploaded."""
        return is_address(self.name)


def is_address(name: str) -> bool:
    """Whether the name of a source is an address of http or https."""
    return bool(_ADDRESS.match(name))


def list_sources(value: object) -> list[Source]:
    """The pictures that a field's value names: a text, or a list of texts; at most eight."""
    values = value if isinstance(value, list) else [value]
    texts = [one.strip() for one in values if isinstance(one, str) and one.strip()]
    return [_read_data(text) or Source(text) for text in texts[:MOST_OF_A_FIELD]]


def looks_like_pictures(value: object) -> bool:
    """Whether a value may be meant as pictures: addresses, names of picture files or data."""
    return any(
        source.is_address or source.name.startswith(UPLOADED) or _FILE.fullmatch(source.name)
        for source in list_sources(value)
    )


def take_data(fields: Mapping[str, Any]) -> tuple[dict[str, Any], list[Source]]:
    """The fields with `picture:<sha256>` where one held a picture as a data URI, and those."""
    taken: list[Source] = []

    def swap(value: Any) -> Any:
        if isinstance(value, list):
            return [swap(one) if isinstance(one, str) else one for one in value]
        source = _read_data(value) if isinstance(value, str) else None
        if source is None:
            return value
        taken.append(source)
        return source.name

    return {name: swap(value) for name, value in fields.items()}, taken


def _read_data(text: str) -> Source | None:
    """The picture of a data URI; with what is no base64, one that no one can read."""
    result = _DATA.fullmatch(text)
    if not result:
        return None
    try:
        data = base64.b64decode(result[1])
    except binascii.Error:
        data = b""
    return Source(UPLOADED + hashlib.sha256(data).hexdigest(), data)
