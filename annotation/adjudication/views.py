"""Pairs for leads: all of a campaign's, one with everything said about it, and deciding it."""

from collections.abc import Iterator
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.adjudication.filters import Narrowing
from annotation.adjudication.forms import DecisionForm, NarrowForm, WhyForm
from annotation.adjudication.pairs import (
    ALL,
    DIFFER,
    PairsPage,
    find_pair_id,
    get_history,
    get_next_pair_id,
    get_pair_page,
    get_pairs_page,
)
from annotation.adjudication.services import (
    AdjudicationRefused,
    adjudicate,
    check_may_adjudicate,
)
from annotation.campaigns.finding import watched_campaign
from annotation.campaigns.people import list_people_behind
from annotation.campaigns.queries import get_pair
from annotation.gold.forms import GoldForm
from annotation.gold.services import mark_gold
from annotation.models import Campaign, Pair
from annotation.pages.rendering import render_page
from annotation.quality.assessment import name_segment
from judgments.pages.rendering import posted
from judgments.permissions import Access, check_may_lead, get_access, may_lead
from touchstone.errors import DomainError
from touchstone.scales import Scale

SHOWS: Final = {
    ALL: "All",
    DIFFER: "Disagreements",
    Pair.State.TIED: "Needs adjudication",
    Pair.State.OPEN: "Not yet complete",
    Pair.State.COMPLETE: "Complete",
    Pair.State.ADJUDICATED: "Adjudicated",
}


@never_cache
@require_safe
def pairs(request: HttpRequest, slug: str, campaign_id: UUID) -> HttpResponse:
    """The pairs of a campaign, by state or by disagreement."""
    access, campaign = watched_campaign(request, slug, campaign_id)
    page = get_pairs_page(
        access=access,
        campaign=campaign,
        show=request.GET.get("show", ""),
        qid=request.GET.get("query", "").strip(),
        narrowing=NarrowForm(request.GET).narrowing(),
        page=request.GET.get("page", ""),
    )
    said = tuple(_narrowed(page))
    return render_page(request, "pairs", page, access=access, choices=SHOWS.items(), said=said)


@never_cache
@require_http_methods(["GET", "POST"])
def pair(request: HttpRequest, slug: str, pair_id: int) -> HttpResponse:
    """All labels of a pair; a POST adjudicates it and continues with the next."""
    access = get_access(viewer=request.user, slug=slug)
    result = get_pair(access=access, pair_id=pair_id)
    form = DecisionForm(posted(request), scale=Scale.from_json(result.list.scale))
    if request.method == "POST":
        check_may_lead(access)
        if form.is_valid() and _decide(request, access, result, form):
            next_id = get_next_pair_id(access=access, pair=result)
            return redirect("pair", slug, next_id or pair_id)
    page = get_pair_page(access=access, pair_id=pair_id)
    refusal = _refusal(access, result) if may_lead(access) else ""
    start = {"low": result.grade, "high": result.grade}
    gold = GoldForm(scale=Scale.from_json(result.list.scale), initial=start)
    return render_page(
        request,
        "pair",
        page,
        access=access,
        form=form,
        gold_form=gold,
        why_form=WhyForm(),
        refusal=refusal,
    )


@require_safe
def pair_of_list(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Where a judgment came from: what people said of it, or for others which versions set it."""
    access = get_access(viewer=request.user, slug=slug)
    asked = {"qid": request.GET.get("query", ""), "docid": request.GET.get("document", "")}
    pair_id = find_pair_id(access=access, list_slug=list_slug, **asked)
    if pair_id is not None:
        return redirect("pair", slug, pair_id)
    history = get_history(access=access, list_slug=list_slug, **asked)
    return render_page(request, "pair_history", history, access=access, section="lists")


@never_cache
@require_safe
def version_people(request: HttpRequest, slug: str, list_slug: str, number: int) -> HttpResponse:
    """The part of a version's page that says whose labels are behind it."""
    access = get_access(viewer=request.user, slug=slug)
    people = list_people_behind(access=access, list_slug=list_slug, number=number)
    return render_page(request, "_version_people", people, access=access)


def _narrowed(page: PairsPage) -> Iterator[str]:
    """By what the pairs are narrowed, in words."""
    narrowing, scale = page.narrowing, Scale.from_json(page.campaign.list.scale)
    if narrowing.segment is not None:
        yield name_segment(narrowing.segment)
    kind = "a gold check of" if narrowing.gold else "a label by"
    yield from (f"{kind} {page.people.get(name, name)}" for name in narrowing.people)
    if narrowing.gold:
        yield from _say_gold(narrowing)
    if narrowing.grade is not None:
        yield f"the grade “{_name_grade(scale, narrowing.grade)}”"
    if narrowing.likely is not None:
        yield f"“{_name_grade(scale, narrowing.likely)}” most probable by the others’ labels"
    if narrowing.revision is not None:
        yield f"revision {narrowing.revision} of the guideline"
    for word, moment in (("from", narrowing.since), ("until", narrowing.until)):
        if moment is not None:
            yield f"{word} {moment:%Y-%m-%d %H:%M} UTC"


def _name_grade(scale: Scale, code: int) -> str:
    return scale.grade(code).name if scale.contains(code) else str(code)


def _say_gold(narrowing: Narrowing) -> Iterator[str]:
    if not narrowing.people:
        yield "gold checks"
    error = narrowing.error
    if error is None:
        return
    steps = "1 step" if abs(error) == 1 else f"{abs(error)} steps"
    yield f"{steps} {'above' if error > 0 else 'below'} gold" if error else "right by gold"


def _decide(request: HttpRequest, access: Access, found: Pair, form: DecisionForm) -> bool:
    now, said = timezone.now(), form.cleaned_data
    grade, reason = said["grade"], said["reason"]
    try:
        with transaction.atomic():
            adjudicate(access=access, pair=found, grade=grade, reason=reason, at=now)
            if said["as_gold"]:
                mark_gold(access=access, pair=found, low=grade, high=grade, reason=reason, at=now)
    except DomainError as error:
        form.add_error(None, error.message)
        return False
    result = f"Adjudicated: {found.query.qid} {found.document.docid}, {grade}."
    head = found.list.head
    found.list.refresh_from_db(fields=["head"])
    if found.campaign.commit == Campaign.Commit.LIVE and found.list.head == head:
        result += " The grade is unchanged, so there is no new version."
    messages.success(request, result)
    return True


def _refusal(access: Access, found: Pair) -> str:
    """Why the pair can't be decided; "" where it can."""
    try:
        check_may_adjudicate(access, found)
    except AdjudicationRefused as error:
        return error.message
    return ""
