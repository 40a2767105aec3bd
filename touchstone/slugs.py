"""Short names for addresses and commands, made from names."""

import re
import unicodedata
from typing import Final

LONGEST: Final = 64


def short_name(name: str) -> str:
    """Lower-case ASCII letters and digits with hyphens between, 64 at most; "" where none are left.

    A short name is its own. As pages propose it (static/touchstone/app.js).
    """
    plain = "".join(
        one for one in unicodedata.normalize("NFKD", name) if not unicodedata.combining(one)
    )
    return re.sub("[^a-z0-9]+", "-", plain.lower()).lstrip("-")[:LONGEST].rstrip("-")
