"""The guideline of a campaign as it is now, and what changed in it since a label."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.guidelines.text_differences import KEPT, Passage, changed_wording
from annotation.models import (
    Campaign,
    GuidelineRevision,
    Label,
)
from annotation.permissions import AnnotatorContext
from judgments.permissions import NotFound


@dataclass(frozen=True)
class ShownGuideline:
    """The revision of the guideline that holds now. grades: worst first, as stored."""

    name: str
    revision: int
    text: str
    grades: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class GradeChange:
    """What a guideline says of one grade, before and after."""

    code: int
    name: str
    definition: Sequence[Passage]
    examples: Sequence[Passage]
    counter_examples: Sequence[Passage]


@dataclass(frozen=True)
class GuidelineChange:
    """What differs between an older revision and the one that holds now.

    grades: only those of which something else is said.
    """

    since: int
    guideline: ShownGuideline
    text: Sequence[Passage]
    grades: Sequence[GradeChange]

    @property
    def is_text_changed(self) -> bool:
        return any(one.kind != KEPT for one in self.text)


def get_shown_guideline(context: AnnotatorContext) -> ShownGuideline:
    """The guideline as it is now."""
    return get_newest_guideline(context.campaign)


def get_newest_revision_of(campaign: Campaign) -> GuidelineRevision:
    """As `get_newest_guideline`, with its guideline."""
    revisions_qs = GuidelineRevision.objects.filter(guideline=campaign.guideline_id)
    revisions_qs = revisions_qs.select_related("guideline").order_by("-number")
    if campaign.state == Campaign.State.CLOSED and campaign.closed_at is not None:
        held = revisions_qs.filter(created_at__lte=campaign.closed_at).first()
        if held is not None:
            return held
    return revisions_qs[0]


def get_newest_guideline(campaign: Campaign) -> ShownGuideline:
    """The guideline that a campaign's labels are made under, for anyone who may see the campaign.

    The newest revision; of a closed campaign the one that was the newest when it was closed.
    """
    newest = get_newest_revision_of(campaign)
    return ShownGuideline(newest.guideline.name, newest.number, newest.text, tuple(newest.grades))


def get_last_revision(context: AnnotatorContext) -> int | None:
    """The revision of the guideline that the viewer labelled under last; None: never yet."""
    labels_qs = Label.objects.filter(annotator=context.viewer, pair__campaign=context.campaign)
    return (
        labels_qs.order_by("-received_at", "-pk")
        .values_list("guideline_revision__number", flat=True)
        .first()
    )


def get_unread_change(
    context: AnnotatorContext, guideline: ShownGuideline
) -> GuidelineChange | None:
    """What changed in the guideline since the viewer labelled last; None: nothing."""
    last = get_last_revision(context)
    if last is None or last >= guideline.revision:
        return None
    return get_guideline_change(context, since=last)


def get_guideline_change(context: AnnotatorContext, *, since: int) -> GuidelineChange:
    """What changed in the campaign's guideline since a revision; NotFound where there was none."""
    revisions_qs = GuidelineRevision.objects.filter(guideline=context.campaign.guideline_id)
    old = revisions_qs.filter(number=since).first()
    if old is None:
        raise NotFound("revision")
    now = get_shown_guideline(context)
    before = {grade["code"]: grade for grade in old.grades}
    changes = [_grade_change(before.get(grade["code"], {}), grade) for grade in now.grades]
    return GuidelineChange(
        since=since,
        guideline=now,
        text=changed_wording(old.text, now.text),
        grades=[change for change in changes if change is not None],
    )


def _grade_change(old: Mapping[str, Any], new: Mapping[str, Any]) -> GradeChange | None:
    examples, counter_examples = (
        changed_wording("\n".join(old.get(name, ())), "\n".join(new[name]))
        for name in ("examples", "counter_examples")
    )
    definition = changed_wording(old.get("definition", ""), new["definition"])
    if all(one.kind == KEPT for one in (*definition, *examples, *counter_examples)):
        return None
    return GradeChange(new["code"], new["name"], definition, examples, counter_examples)
