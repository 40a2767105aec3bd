"""The names of people in messages: rows hold their ids, and no name."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from judgments.models import User

PERSON: Final = "person"  # in a payload: the id of the account that the message is about


def name_people(payloads: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The payloads with the person's name as it is now in place of their id."""
    ids = {payload[PERSON] for payload in payloads if payload.get(PERSON) is not None}
    people = User.objects.in_bulk(ids) if ids else {}
    return [
        {**payload, PERSON: str(people.get(payload[PERSON], "Someone"))}
        if PERSON in payload
        else dict(payload)
        for payload in payloads
    ]
