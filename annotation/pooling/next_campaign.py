"""A campaign of the pairs whose labels could change most of what is said of some runs."""

from datetime import datetime
from typing import Any, Final

from django.db import transaction

from annotation.campaigns.services import create_campaign
from annotation.guidelines.queries import list_guidelines
from annotation.guidelines.services import get_newest_revision, has_grades_of
from annotation.models import Campaign, Guideline, Pool
from annotation.pooling.queries import list_open_pairs
from annotation.pooling.services import store_pool
from evaluation.public import JudgeNext, NextAsked, get_judge_next
from judgments.models import JudgmentList
from judgments.permissions import Access, check_may_lead
from touchstone.errors import DomainError
from touchstone.pooling.pools import Source

OVERLAP: Final = 1  # seats a pair, where the list had no campaign yet


class NextRefused(DomainError):
    """No campaign can be made of what is to be judged next."""


def start_next_campaign(
    *, access: Access, judgment_list: JudgmentList, asked: NextAsked, at: datetime, seed: int
) -> Campaign:
    """A draft with what to judge next, designed as the list's newest campaign was; for leads.

    Pairs that are open in a campaign already are left out. Raises NextRefused where nothing is
    left to be judged, or no guideline is for the list's grades.
    """
    check_may_lead(access)
    being_judged = frozenset(list_open_pairs(list_id=judgment_list.pk))
    result = get_judge_next(
        access=access, judgment_list=judgment_list, asked=asked, without=being_judged
    )
    if not result.pairs:
        message = "No further label could change the order of these runs."
        raise NextRefused("nothing_next", message)
    model = judgment_list.campaigns.order_by("-pk").first()
    with transaction.atomic():
        campaign = create_campaign(
            access=access,
            at=at,
            seed=seed,
            judgment_list=judgment_list,
            guideline=model.guideline if model else _guideline(access, judgment_list),
            name=_free_name(judgment_list, f"Judge next, version {result.version}"),
            depth=result.depth,
            **_design_of(model),
        )
        _fill(access, campaign, result, at)
    return campaign


def _fill(access: Access, campaign: Campaign, found: JudgeNext, at: datetime) -> None:
    pool = Pool(
        strategy=Pool.Strategy.NEXT,
        depth=found.depth,
        only_unjudged=not any(pair.is_doubted for pair in found.pairs),
        seed=0,
        runs=[{"ranker": run.ranker.slug, "run": run.name} for run in found.runs],
        created_at=at,
        created_by=access.user,
    )
    drawn = {
        pair.key: [Source(source.ranker, source.run, source.rank) for source in pair.sources]
        for pair in found.pairs
    }
    store_pool(access=access, campaign=campaign, pool=pool, drawn=drawn)


def _guideline(access: Access, judgment_list: JudgmentList) -> Guideline:
    """The newest guideline that says something of the list's grades."""
    for guideline in sorted(list_guidelines(access=access), key=lambda own: -own.pk):
        if has_grades_of(get_newest_revision(guideline).grades, judgment_list):
            return guideline
    message = "Write a guideline for this list’s grades first."
    raise NextRefused("no_guideline", message)


def _design_of(model: Campaign | None) -> dict[str, Any]:
    if model is None:
        return {"overlap": OVERLAP}
    fields = ("overlap", "rule", "commit", "order", "lease_minutes", "shows_images")
    return {field: getattr(model, field) for field in fields}


def _free_name(judgment_list: JudgmentList, name: str) -> str:
    taken = set(judgment_list.campaigns.values_list("name", flat=True))
    number = 1
    while (free := name if number == 1 else f"{name} ({number})") in taken:
        number += 1
    return free
