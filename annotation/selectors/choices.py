"""What another rule would make of a campaign's labels, before anything is written."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from annotation.models import Campaign, Pair
from annotation.permissions import check_may_watch
from annotation.selectors.conclusions import Concluded, conclusions, listen
from evaluation.selectors import WhatIf, list_what_if
from judgments.permissions import Access
from judgments.scales import Scale
from judgments.selectors.lists import GradeShown, show_grade

MOST_SHOWN: Final = 50


@dataclass(frozen=True)
class RuleChange:
    """A pair that would come to another grade. before, after: None for a tie."""

    pair_id: int
    qid: str
    docid: str
    title: str
    grades: tuple[GradeShown, ...]
    before: GradeShown | None
    after: GradeShown | None


@dataclass(frozen=True)
class RulePage:
    """A rule for a campaign, and what it would change.

    concluded: pairs with enough labels that nobody has decided. changes: those that come out
    another, as far as they are shown; changed: how many there are. ties, ties_now: pairs
    without a grade. moves: how many go from one grade to another, the most first.
    """

    campaign: Campaign
    rule: str
    rule_name: str
    concluded: int
    changed: int
    ties_now: int
    ties: int
    changes: tuple[RuleChange, ...]
    moves: tuple[tuple[GradeShown | None, GradeShown | None, int], ...]
    board: tuple[WhatIf, ...]

    @property
    def is_now(self) -> bool:
        return self.rule == self.campaign.rule


def get_rule_page(*, access: Access, campaign: Campaign, rule: str) -> RulePage:
    """What the rule would change in the list and on its leaderboard; for leads and admins."""
    check_may_watch(access, campaign)
    rule = rule if rule in Campaign.Rule.values else campaign.rule
    scale = Scale.from_json(campaign.list.scale)
    pairs_qs = campaign.pairs.filter(label_seq__gt=0).exclude(state=Pair.State.ADJUDICATED)
    shown_qs = pairs_qs.select_related("campaign", "query", "document").defer("document__body")
    heard = listen(shown_qs.order_by("query__qid", "pk"))
    found = [
        (one, grade)
        for one, (state, grade) in conclusions(heard, scale.codes, rule)
        if state != Pair.State.OPEN
    ]
    changed = [(one, grade) for one, grade in found if grade != one.pair.grade]
    moves = Counter((one.pair.grade, grade) for one, grade in changed)
    grades = {(one.pair.query_id, one.pair.document_id): grade for one, grade in changed}
    return RulePage(
        campaign=campaign,
        rule=rule,
        rule_name=Campaign.Rule(rule).label,
        concluded=len(found),
        changed=len(changed),
        ties_now=sum(one.pair.grade is None for one, _ in found),
        ties=sum(grade is None for _, grade in found),
        changes=tuple(_change(one, grade, scale) for one, grade in changed[:MOST_SHOWN]),
        moves=tuple(
            (_show(scale, before), _show(scale, after), count)
            for (before, after), count in moves.most_common(12)
        ),
        board=tuple(
            list_what_if(access=access, judgment_list=campaign.list, grades=grades)
            if grades
            else ()
        ),
    )


def _change(one: Concluded, grade: int | None, scale: Scale) -> RuleChange:
    return RuleChange(
        pair_id=one.pair.pk,
        qid=one.pair.query.qid,
        docid=one.pair.document.docid,
        title=one.pair.document.title,
        grades=tuple(show_grade(scale, code) for code in sorted(one.grades)),
        before=_show(scale, one.pair.grade),
        after=_show(scale, grade),
    )


def _show(scale: Scale, code: int | None) -> GradeShown | None:
    return None if code is None else show_grade(scale, code)
