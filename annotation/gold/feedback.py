"""Feedback that an annotator got on their labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotation.models import Adjudication, Feedback, GoldItem, Label
from annotation.permissions import AnnotatorContext
from judgments.lists.queries import GradeShown, show_grade
from touchstone.scales import Scale

NEWS = 20  # for so many labels the page points at new feedback


@dataclass(frozen=True)
class Told:
    """One label, what the answer is taken to be, and why."""

    query_text: str
    title: str
    text: str
    said: GradeShown
    low: GradeShown
    high: GradeShown
    reason: str

    @property
    def is_range(self) -> bool:
        return self.low.code != self.high.code

    @property
    def is_right(self) -> bool:
        return self.low.position <= self.said.position <= self.high.position


@dataclass(frozen=True)
class Batch:
    """One batch of feedback to an annotator. right: how many of the labels were."""

    given_at: datetime
    items: tuple[Told, ...]

    @property
    def right(self) -> int:
        return sum(item.is_right for item in self.items)


def get_feedback_page(context: AnnotatorContext) -> tuple[Batch, ...]:
    """All that the viewer was told in the campaign, the last first."""
    told = list(
        Feedback.objects.filter(campaign=context.campaign, annotator=context.viewer).order_by("-pk")
    )
    ids = [item["label"] for one in told for item in one.items]
    labels = Label.objects.select_related("pair__query", "pair__document").in_bulk(ids)
    by_id = {str(pk): label for pk, label in labels.items()}
    scale = Scale.from_json(context.campaign.list.scale)
    reasons = _list_reasons([item for one in told for item in one.items])
    return tuple(
        Batch(
            one.given_at,
            tuple(_told(by_id[item["label"]], item, reasons, scale) for item in one.items),
        )
        for one in told
    )


def count_feedback(context: AnnotatorContext) -> int:
    """How many batches there are for the viewer to read."""
    return Feedback.objects.filter(campaign=context.campaign, annotator=context.viewer).count()


def has_news(context: AnnotatorContext) -> bool:
    """Whether the viewer was told something, and has made fewer than twenty labels since."""
    told_qs = Feedback.objects.filter(campaign=context.campaign, annotator=context.viewer)
    last = told_qs.order_by("-pk").values_list("given_at", flat=True).first()
    if last is None:
        return False
    since_qs = Label.objects.filter(annotator=context.viewer, pair__campaign=context.campaign)
    return since_qs.filter(received_at__gt=last).count() < NEWS


def show_told(label: Label, low: int, high: int, reason: str, scale: Scale) -> Told | None:
    """A label beside its right answer; None where it gives no grade."""
    if label.grade is None:
        return None
    return Told(
        query_text=label.pair.query.text,
        title=label.pair.document.title,
        text=label.pair.document.body,
        said=show_grade(scale, label.grade),
        low=show_grade(scale, low),
        high=show_grade(scale, high),
        reason=reason,
    )


def _list_reasons(items: Sequence[dict[str, Any]]) -> dict[tuple[str, int], str]:
    """The reasons that items name: (what it is a reason of, its id) -> words."""
    gold = GoldItem.objects.in_bulk([item["gold"] for item in items if "gold" in item])
    decided = Adjudication.objects.select_related("reason_text").in_bulk(
        [item["adjudication"] for item in items if "adjudication" in item]
    )
    said = {("gold", pk): one.reason for pk, one in gold.items()}
    return said | {("adjudication", pk): one.reason for pk, one in decided.items()}


def _told(
    label: Label, item: dict[str, Any], reasons: Mapping[tuple[str, int], str], scale: Scale
) -> Told:
    why = next((own for own in item.items() if own in reasons), None)
    reason = reasons[why] if why else ""
    told = show_told(label, item["low"], item["high"], reason, scale)
    assert told is not None  # only graded labels are told of
    return told
