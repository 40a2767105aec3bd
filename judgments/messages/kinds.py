"""The kinds of message, and the words of each; a function of plain values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

NOTICE: Final = "notice"
EMAIL: Final = "email"
CHANNELS: Final[Mapping[str, str]] = {NOTICE: "In Touchstone", EMAIL: "E-mail"}


@dataclass(frozen=True)
class Kind:
    """A kind of message.

    label, about: how somebody who chooses reads of it. subject, text: with a place for each value
    of the payload. is_chosen: whether people may switch it off.
    """

    label: str
    about: str
    subject: str
    text: str
    is_chosen: bool = True


KINDS: Final[Mapping[str, Kind]] = {
    "invited": Kind(
        label="Added to a campaign",
        about="A lead gave you pairs to label.",
        subject="You can label in {campaign}",
        text="You annotate in the campaign {campaign} of {collection}.",
    ),
    "joined": Kind(
        label="Invitation accepted",
        about="Someone accepted your invitation.",
        subject="{person} joined {collection}",
        text="{person} accepted your invitation and joined {collection} as {role}.",
    ),
    "adjudication": Kind(
        label="Needs adjudication",
        about="Labels of pairs differ, and the pairs wait for a decision.",
        subject="{campaign}: {pairs}",
        text="In the campaign {campaign} of {collection}, {pairs}.",
    ),
    "paused": Kind(
        label="Paused",
        about="A rule or a lead paused you, or a rule paused an annotator whom you lead.",
        subject="{campaign}: {who} paused",
        text="{words}",
    ),
    "report": Kind(
        label="Report ready",
        about="A campaign was closed, and its quality report is complete.",
        subject="{campaign}: the quality report is ready",
        text="The campaign {campaign} of {collection} is closed. Its quality report is ready.",
    ),
    "incident": Kind(
        label="Incident",
        about="A search engine that is watched got worse, failed or became slow.",
        subject="{ranker}: {what}",
        text="{words} The ranker {ranker} of {collection} is compared with its baseline after "
        "every snapshot.",
    ),
    "recovered": Kind(
        label="Recovered",
        about="An incident of a search engine that is watched is over.",
        subject="{ranker} recovered: {what}",
        text="{words} The incident of the ranker {ranker} of {collection} is over.",
    ),
    "deadline": Kind(
        label="Deadline",
        about="A campaign is due in two days, or is overdue.",
        subject="{campaign} {when}",
        text="The campaign {campaign} of {collection} {when}: {done} of {pairs} have a grade.",
    ),
    "budget": Kind(
        label="Budget",
        about="A budget is nearly used, or used up.",
        subject="{name}: {percent} % of the budget used",
        text="{name} has used {used} of {limit}. {what}",
    ),
    "invitation": Kind(
        label="Invitation",
        about="",
        subject="Invitation to {collection}",
        text="You are invited to join {collection} on Touchstone as {role}. The link works once, "
        "and for {days}.",
        is_chosen=False,
    ),
    "password_reset": Kind(
        label="Reset of a password",
        about="",
        subject="Reset your Touchstone password",
        text="Open the link within a day to set another password for {username}. If you did not "
        "ask for it, ignore this message.",
        is_chosen=False,
    ),
    "address": Kind(
        label="Confirmation of an address",
        about="",
        subject="Confirm your e-mail address",
        text="Someone entered this address for Touchstone messages. If it was you, open the "
        "link within three days while you are signed in. If not, ignore this message.",
        is_chosen=False,
    ),
}


@dataclass(frozen=True)
class Words:
    """A message in words: its subject, on one line, and its text."""

    subject: str
    text: str


def words_of(kind: str, payload: Mapping[str, object]) -> Words:
    """What a message says. Raises KeyError for an unknown kind or a value that is missing."""
    known = KINDS[kind]
    subject = " ".join(known.subject.format_map(payload).split())
    return Words(subject=subject[:200], text=known.text.format_map(payload))
