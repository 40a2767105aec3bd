"""Texts beside facts: written with their salt and digest, and checked against it."""

import hashlib
import secrets
from typing import Final

from django.db import models

from judgments.models import SideText
from judgments.models.side_texts import text_of

SALT_BYTES: Final = 16


def digest_of(salt: str, text: str) -> str:
    """SHA-256 over the salt's bytes and the text in UTF-8, in hexadecimal digits.

    salt: of one length always, in hexadecimal digits, so that no other salt and text are the same.
    """
    return hashlib.sha256(bytes.fromhex(salt) + text.encode()).hexdigest()


def new_text(text: str) -> SideText | None:
    """A side text that is not stored yet, with a salt of its own; None for an empty text."""
    if not text:
        return None
    salt = secrets.token_hex(SALT_BYTES)
    return SideText(digest=digest_of(salt, text), salt=salt, text=text)


def keep_text(text: str) -> SideText | None:
    """Store a text beside the fact that is about to be written; None for an empty text."""
    side = new_text(text)
    if side:
        side.save(force_insert=True)
    return side


def is_text(fact: models.Model, key: str, text: str) -> bool:
    """Whether the fact's side text may be this one: it is, or it is erased."""
    if getattr(fact, f"{key}_id") is None:
        return not text
    return bool(text) and text_of(fact, key) in ("", text)


def list_changed_texts() -> tuple[int, list[str]]:
    """How many texts there are, and the digests of those that are no longer what was written."""
    count, changed = 0, []
    for side in SideText.objects.iterator():
        count += 1
        if digest_of(side.salt, side.text) != side.digest:
            changed.append(side.digest)
    return count, changed
