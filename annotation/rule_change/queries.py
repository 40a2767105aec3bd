"""What another rule would make of a campaign's labels, before anything is written."""

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from django.db.models import Sum

from annotation.campaigns.queries import with_names
from annotation.consolidation.aggregation import aggregate, load_labelled_pairs
from annotation.models import Campaign, Pair, QualityReport, RulePreview
from annotation.permissions import check_may_watch
from annotation.quality.material import key_of
from evaluation.public import WhatIf, list_what_if
from judgments.models import Job
from judgments.permissions import Access, NotFound
from judgments.reports.freshness import Freshness, freshness_of
from touchstone.scales import Scale

MOST_SHOWN: Final = 50
MOST_MOVES: Final = 12
CONCLUDING: Final = ("choose_rule", "change_plan")  # kinds of jobs
PARTS: Final = 8  # in which labels are read; then come concluding and the leaderboard
STEPS: Final = PARTS + 2
# Raised when the same labels give another preview than before.
PREVIEW_REVISION: Final = 1


class RuleChange(NamedTuple):
    """A pair that would come to another grade. grades: of its labels. before, after: None for a
    tie."""

    pair: Pair
    grades: list[int]
    before: int | None
    after: int | None


@dataclass(frozen=True)
class RuleOutcome:
    """What a rule would change.

    concluded: pairs with enough labels that no one has decided. changes: those that come out
    another, as far as they are shown; changed: how many there are. ties, ties_now: pairs
    without a grade. moves: how many go from one grade to another, the most first.
    """

    concluded: int
    changed: int
    ties_now: int
    ties: int
    changes: tuple[RuleChange, ...]
    moves: list[tuple[int | None, int | None, int]]
    board: tuple[WhatIf, ...]


@dataclass(frozen=True)
class RulePage:
    """A rule for a campaign. outcome: None before a worker has computed it.

    under_way: a worker's turn at concluding the labels again, by whatever rule or plan.
    """

    campaign: Campaign
    rule: str
    freshness: Freshness
    outcome: RuleOutcome | None
    under_way: Job | None

    @property
    def is_now(self) -> bool:
        return self.rule == self.campaign.rule


def get_rule_page(*, access: Access, campaign: Campaign, rule: str) -> RulePage:
    """What the rule would change in the list and on its leaderboard; for leads and admins."""
    check_may_watch(access, campaign)
    rule = rule if rule in Campaign.Rule.values else campaign.rule
    preview = RulePreview.objects.filter(campaign=campaign, rule=rule).first()
    is_known = preview is not None and preview.revision == PREVIEW_REVISION
    return RulePage(
        campaign=campaign,
        rule=rule,
        freshness=_freshness(campaign, rule, preview),
        outcome=_outcome(campaign, preview.figures) if preview and is_known else None,
        under_way=find_concluding_job(campaign),
    )


def find_concluding_job(campaign: Campaign) -> Job | None:
    """The long work that concludes the campaign's labels again; None where there is none."""
    open_qs = Job.objects.filter(state__in=(Job.State.QUEUED, Job.State.RUNNING))
    own = {"kind__in": CONCLUDING, "params__campaign": str(campaign.public_id)}
    return open_qs.filter(collection=campaign.list.collection_id, **own).first()


def get_rule_freshness(*, access: Access, campaign: Campaign, rule: str) -> Freshness:
    """How current the preview of a rule is; for leads and admins."""
    check_may_watch(access, campaign)
    if rule not in Campaign.Rule.values:
        raise NotFound("rule")
    previews_qs = RulePreview.objects.defer("figures").filter(campaign=campaign, rule=rule)
    return _freshness(campaign, rule, previews_qs.first())


def preview_key(campaign: Campaign, rule: str) -> str:
    """A name of all that a preview follows from."""
    concluded = campaign.pairs.order_by().aggregate(seen=Sum("consolidated_seq"))["seen"]
    reports = QualityReport.objects.filter(campaign=campaign)
    known = reports.values_list("seen", "revision").first()
    plan = (campaign.rule, campaign.overlap)
    words = (rule, plan, key_of(campaign), concluded, known, campaign.list.head)
    return hashlib.blake2b(repr(words).encode(), digest_size=16).hexdigest()


def compute_preview(campaign: Campaign, rule: str, report: Callable[[int], None]) -> dict[str, Any]:
    """What the rule would change, as values that JSON can hold; for the worker.

    report: called with how many of STEPS are done.
    """
    scale = Scale.from_json(campaign.list.scale)
    pairs_qs = campaign.pairs.filter(label_seq__gt=0).exclude(state=Pair.State.ADJUDICATED)
    whole_qs = pairs_qs.order_by("query__qid", "pk")
    size = -(-pairs_qs.count() // PARTS)
    loaded = []
    for part in range(PARTS):
        loaded += load_labelled_pairs(whole_qs[part * size : (part + 1) * size])
        report(part + 1)
    result = [
        (one, grade)
        for one, (state, grade) in aggregate(loaded, scale.codes, rule)
        if state != Pair.State.OPEN
    ]
    changed = [(one, grade) for one, grade in result if grade != one.pair.grade]
    moves = Counter((one.pair.grade, grade) for one, grade in changed)
    grades = {(one.pair.query_id, one.pair.document_id): grade for one, grade in changed}
    report(PARTS + 1)
    board = list_what_if(judgment_list=campaign.list, grades=grades) if grades else []
    return {
        "concluded": len(result),
        "changed": len(changed),
        "ties_now": sum(one.pair.grade is None for one, _ in result),
        "ties": sum(grade is None for _, grade in result),
        "changes": [
            [one.pair.pk, sorted(one.grades), one.pair.grade, grade]
            for one, grade in changed[:MOST_SHOWN]
        ],
        "moves": [[*move, count] for move, count in moves.most_common(MOST_MOVES)],
        "board": [asdict(row) for row in board],
    }


def _freshness(campaign: Campaign, rule: str, preview: RulePreview | None) -> Freshness:
    current = (preview_key(campaign, rule), PREVIEW_REVISION)
    is_due = preview is None or (preview.seen, preview.revision) != current
    return freshness_of(preview, is_due=is_due, steps=STEPS)


def _outcome(campaign: Campaign, figures: dict[str, Any]) -> RuleOutcome:
    pairs = with_names(campaign.pairs.all()).in_bulk([pk for pk, *_ in figures["changes"]])
    made = {
        "changes": tuple(RuleChange(pairs[pk], *change) for pk, *change in figures["changes"]),
        "board": tuple(WhatIf(**row) for row in figures["board"]),
    }
    return RuleOutcome(**{**figures, **made})
