"""The kinds of message, and the words of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

NOTICE: Final = "notice"
EMAIL: Final = "email"
CHANNELS: Final = (NOTICE, EMAIL)
LANGUAGE: Final = "language"  # in a payload: of the page on which the message was asked for


def _(text: str) -> str:
    """Mark a text for the catalogues."""
    return text


@dataclass(frozen=True)
class Pattern:
    """The subject and the text of a message, with a place for each value of its payload."""

    subject: str
    text: str


class EnglishPattern(Pattern):
    """A pattern for leads, whose pages are in English; it is in no catalogue."""


@dataclass(frozen=True)
class Kind:
    """A kind of message.

    label, about: how the settings describe it. pattern: its words; of some events those of
    `variants`, where the payload names the variant. is_chosen: whether people may switch it off.
    is_for_annotators: whether someone gets it who only annotates.
    """

    label: str
    about: str
    pattern: Pattern
    variants: Mapping[str, Pattern] = field(default_factory=dict)
    is_chosen: bool = True
    is_for_annotators: bool = False


KINDS: Final[Mapping[str, Kind]] = {
    "invited": Kind(
        _("Added to a campaign"),
        _("A lead gave you pairs to label."),
        Pattern(
            _("You can label in {campaign}"),
            _("You annotate in the campaign {campaign} of {collection}."),
        ),
        is_for_annotators=True,
    ),
    "joined": Kind(
        _("Invitation accepted"),
        _("Someone accepted your invitation."),
        EnglishPattern(
            "{person} joined {collection}",
            "{person} accepted your invitation and joined {collection} as {role}.",
        ),
    ),
    "adjudication": Kind(
        _("Needs adjudication"),
        _("Labels of pairs differ, and the pairs wait for a decision."),
        EnglishPattern(
            "{campaign}: {pairs}", "In the campaign {campaign} of {collection}, {pairs}."
        ),
    ),
    "paused": Kind(
        _("Paused"),
        _("A rule or a lead paused you, or a rule paused an annotator whom you lead."),
        Pattern(_("{campaign}: you are paused"), "{reason}"),
        {
            "leads": EnglishPattern(
                "{campaign}: {person} is paused",
                "A rule paused {person}: {right} of {checks} gold labels right, the threshold is "
                "{below_percent} %.",
            )
        },
        is_for_annotators=True,
    ),
    "report": Kind(
        _("Report ready"),
        _("A campaign was closed, and its quality report is complete."),
        EnglishPattern(
            "{campaign}: the quality report is ready",
            "The campaign {campaign} of {collection} is closed. Its quality report is ready.",
        ),
    ),
    "incident": Kind(
        _("Incident"),
        _("A monitored search engine got worse, failed or became slow."),
        EnglishPattern(
            "{ranker}: {what}",
            "{words} The ranker {ranker} of {collection} is compared with its baseline after every "
            "snapshot.",
        ),
        {
            "data_set": EnglishPattern(
                "{data_set}: {what}",
                "{words} The data set {data_set} of {collection} is checked after every "
                "evaluation.",
            )
        },
    ),
    "recovered": Kind(
        _("Recovered"),
        _("An incident of a monitored search engine is over."),
        EnglishPattern(
            "{ranker} recovered: {what}",
            "{words} The incident of the ranker {ranker} of {collection} is over.",
        ),
        {
            "data_set": EnglishPattern(
                "{data_set} recovered: {what}",
                "{words} The incident of the data set {data_set} of {collection} is over.",
            )
        },
    ),
    "deadline": Kind(
        _("Deadline"),
        _("A campaign is due in two days, or is overdue."),
        Pattern(
            _("{campaign} is due on {due}"),
            _(
                "The campaign {campaign} of {collection} is due on {due}. Pairs with a grade: "
                "{done} of {pairs}."
            ),
        ),
        {
            "overdue": EnglishPattern(
                "{campaign} is overdue",
                "The campaign {campaign} of {collection} was due on {due}. Pairs with a grade: "
                "{done} of {pairs}.",
            )
        },
        is_for_annotators=True,
    ),
    "budget": Kind(
        _("Budget"),
        _("A budget is nearly used, or used up."),
        EnglishPattern(
            "{name}: {percent} % of the budget used", "{name} has used {used} of {limit}. {what}"
        ),
    ),
    "webhook": Kind(
        _("Webhook paused"),
        _("The receiver of a webhook answered that it wants no more events."),
        EnglishPattern(
            "Webhook paused: {url}",
            "The receiver at {url} answered 410 Gone. The webhook is paused.",
        ),
    ),
    "invitation": Kind(
        "Invitation",
        "",
        EnglishPattern(
            "Invitation to {collection}",
            "You are invited to join {collection} on Touchstone as {role}. The link works once, "
            "and for {days}.",
        ),
        is_chosen=False,
    ),
    "password_reset": Kind(
        "Reset of a password",
        "",
        Pattern(
            _("Reset your Touchstone password"),
            _(
                "Open the link within a day to set another password for {username}. If you did not "
                "ask for it, ignore this message."
            ),
        ),
        is_chosen=False,
    ),
    "address": Kind(
        "Confirmation of an address",
        "",
        Pattern(
            _("Confirm your e-mail address"),
            _(
                "Someone entered this address for Touchstone messages. If it was you, open the "
                "link within three days while you are signed in. If not, ignore this message."
            ),
        ),
        is_chosen=False,
    ),
}


def pattern_of(kind: str, payload: Mapping[str, object]) -> Pattern:
    """The words of a message. Raises KeyError for an unknown kind or variant."""
    known = KINDS[kind]
    return known.variants[str(payload["variant"])] if "variant" in payload else known.pattern
