"""Leaderboards, which update themselves while they are open."""

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from evaluation.evaluations.measure_set_services import choose_measures
from evaluation.evaluations.queries import kept_measures
from evaluation.leaderboards.board import Filters
from evaluation.leaderboards.choices import list_board_choices
from evaluation.leaderboards.downloads import DOWNLOADS
from evaluation.leaderboards.estimates import with_estimates
from evaluation.leaderboards.parameters import get_parameters_page
from evaluation.leaderboards.queries import (
    click_grades_of,
    get_leaderboard,
    get_state,
    grades_from,
    list_lists,
    machine_grades_of,
)
from evaluation.leaderboards.segments import SegmentFilters, get_segment_table
from evaluation.leaderboards.shared_parts import SharedPart, get_shared_part
from evaluation.leaderboards.tables import get_board_table
from evaluation.pages.rendering import answer_page, render_page
from evaluation.set_looks.services import count_look
from judgments.lists.changed_documents import count_changed
from judgments.lists.queries import get_list
from judgments.live import AGAIN_HEADER, EVENT_HEADER, board_topic, now
from judgments.models import JudgmentList, SetLook
from judgments.pages.downloads import as_download
from judgments.pages.rendering import is_part
from judgments.pages.streams import event_of, key_of, offer_stream, share_part
from judgments.permissions import Access, NotFound, check_may_lead, get_access, may_upload_runs
from judgments.samples.origins import find_origins
from touchstone.errors import DomainError
from touchstone.measures.asking import ask_all, recognise

STATE_HEADER: Final = "X-Board-State"
ROWS: Final = 100  # of a page
FEW: Final = 20  # runs that one sees at a glance


@require_safe
def leaderboards(request: HttpRequest, slug: str) -> HttpResponse:
    """The lists of the collection; where there is only one, its leaderboard at once."""
    access = get_access(viewer=request.user, slug=slug)
    rows = list_lists(access=access)
    if len(rows) == 1:
        return redirect("leaderboard", slug, rows[0].slug)
    return render_page(request, "leaderboards", rows, access=access, section="leaderboard")


@never_cache
@require_safe
def leaderboard(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The leaderboard of a list. The open page asks for its table again and again.

    While nothing has changed, the answer to that is empty (204) and costs a few small queries; what
    has changed is computed once for all pages that are shown the same.
    """
    access = get_access(viewer=request.user, slug=slug)
    judgment_list = get_list(access=access, slug=list_slug)
    topic = board_topic(judgment_list.pk)
    # a look at a held-out set is recorded for each person
    is_own = bool(filters_of(request.GET).set)
    key = "" if is_own else key_of(request, access=access, topic=topic)
    response = _changed_part(request, access, judgment_list, key)
    response = response or _answer(request, access, list_slug)
    patch_vary_headers(response, [STATE_HEADER, EVENT_HEADER])
    offer_stream(response, request, access=access, topic=topic, key=key)
    return response


def _changed_part(
    request: HttpRequest, access: Access, judgment_list: JudgmentList, key: str
) -> HttpResponse | None:
    """The answer to an open page that is as cheap as can be; None where it needs the whole way.

    key: of the part, where it may be shared. A page that an event makes ask gets it for others too.
    """
    if not is_part(request) or STATE_HEADER not in request.headers:
        return None
    known, event, moment = request.headers[STATE_HEADER], event_of(request), now()
    state = get_state(judgment_list=judgment_list)
    if known == state and not (key and event):
        return HttpResponse(status=204)
    if not key:
        return None
    refused: list[HttpResponse] = []

    def compute() -> SharedPart:
        states: list[str] = []
        response = _answer(request, access, judgment_list.slug, states.append)
        if response.status_code != 200:
            refused.append(response)
            return SharedPart("", "")
        return SharedPart(states[-1], response.text)

    part = get_shared_part(key=key, state=state, is_told=bool(event), compute=compute)
    if refused:
        return refused[0]
    if part is not None and event:
        share_part(part.html, key=key, event=event, moment=moment)
    return _answer_with(part, known=known)


def _answer_with(part: SharedPart | None, *, known: str) -> HttpResponse:
    """The part, but for a page that shows it already, or shall ask again for it."""
    if part is None:
        return HttpResponse(status=204, headers={AGAIN_HEADER: "1"})
    if part.state == known:
        return HttpResponse(status=204)
    response = HttpResponse(part.html)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _answer(
    request: HttpRequest,
    access: Access,
    list_slug: str,
    note_state: Callable[[str], object] = lambda _: None,
) -> HttpResponse:
    """The page or its table. note_state: called with the state of the leaderboard that it shows."""

    def page(filters: Filters) -> dict[str, Any]:
        result = get_leaderboard(access=access, slug=list_slug, filters=filters)
        result = with_estimates(result, access=access, filters=filters)
        note_state(result.state)
        return {
            "page": result,
            "filters": filters,
            "rows": Paginator(result.runs, ROWS).get_page(filters.page),
            "choices": None if is_part(request) else list_board_choices(result),
            "origins": None if is_part(request) else find_origins(judgment_list=result.list),
            "click_grades": 0 if is_part(request) else click_grades_of(result),
            "machine_grades": 0 if is_part(request) else machine_grades_of(result),
            "grades_from": "" if is_part(request) else grades_from(result),
            "changed": 0 if is_part(request) else count_changed(result.list),
            "offers_find": bool(filters.find) or len(result.runs) > FEW,
        }

    return answer_page(
        request,
        "leaderboard",
        lambda: page(filters_of(request.GET)),
        lambda: page(Filters()),
        access=access,
        section="leaderboard",
        part="_board",
        look=SetLook.Page.LEADERBOARD,
        may_upload=may_upload_runs(access),
        asked=" ".join(request.GET.getlist("measures")),
        files=DOWNLOADS.values(),
    )


@require_safe
def leaderboard_file(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The leaderboard that an address asks for, as a file."""
    access = get_access(viewer=request.user, slug=slug)
    form = DOWNLOADS.get(request.GET.get("format", ""))
    if form is None:
        raise NotFound("format")
    filters = filters_of(request.GET)
    try:
        result = get_leaderboard(access=access, slug=list_slug, filters=filters)
    except NotFound:
        raise
    except DomainError as error:
        messages.error(request, error.message)
        return redirect("leaderboard", slug, list_slug)
    looks = count_look(
        access=access,
        sets=result.sets,
        page=SetLook.Page.BOARD_FILE,
        at=timezone.now(),
    )
    content = form.write(get_board_table(result, tag=filters.tag, looks=looks))
    name = f"{slug}-{list_slug}-{result.version or 0}.{form.extension}"
    return as_download(content, media_type=form.media_type, file_name=name)


@never_cache
@require_safe
def leaderboard_segments(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Every run's mean in each segment; an open page asks on until all are there."""
    access = get_access(viewer=request.user, slug=slug)
    asked = SegmentFilters(
        measure=" ".join(request.GET.getlist("measure")).strip(),
        version=request.GET.get("version", "").strip() or "head",
    )

    def page(filters: SegmentFilters) -> dict[str, Any]:
        result = get_segment_table(access=access, slug=list_slug, filters=filters)
        measures = [recognise(one).canonical for one in kept_measures(result.list)]
        return {"page": result, "measures": measures}

    return answer_page(
        request,
        "segments",
        lambda: page(asked),
        lambda: page(SegmentFilters()),
        access=access,
        section="leaderboard",
        part="_segments",
    )


@require_safe
def leaderboard_parameters(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """The runs' parameters beside their values."""
    access = get_access(viewer=request.user, slug=slug)
    return answer_page(
        request,
        "parameters",
        lambda: get_parameters_page(access=access, slug=list_slug, filters=filters_of(request.GET)),
        lambda: get_parameters_page(access=access, slug=list_slug, filters=Filters()),
        access=access,
        section="leaderboard",
        look=SetLook.Page.LEADERBOARD,
    )


@require_POST
def leaderboard_measures(request: HttpRequest, slug: str, list_slug: str) -> HttpResponse:
    """Keep other measures current on a list."""
    access = get_access(viewer=request.user, slug=slug)
    check_may_lead(access)
    judgment_list = get_list(access=access, slug=list_slug)
    asked = " ".join(request.POST.getlist("measures")).strip()
    address = reverse("leaderboard", args=[slug, list_slug])
    try:
        measures = [one.measure for one in ask_all(asked)]
        choose_measures(
            access=access, judgment_list=judgment_list, measures=measures, at=timezone.now()
        )
    except DomainError as error:
        messages.error(request, error.message)
        return redirect(f"{address}?{urlencode({'measures': asked})}")
    messages.success(request, "Measures saved for this list.")
    return redirect(address)


def filters_of(parameters: QueryDict) -> Filters:
    """What an address asks for; names of measures may come one by one or together."""
    return Filters(
        measures=" ".join(parameters.getlist("measures")).strip(),
        version=parameters.get("version", "").strip() or "head",
        segment=parameters.get("segment", ""),
        set=parameters.get("set", ""),
        runs=parameters.get("runs", ""),
        sort=parameters.get("sort", ""),
        baseline=parameters.get("baseline", "").strip(),
        since=parameters.get("since", "").strip(),
        tag=parameters.get("tag", "").strip(),
        group=parameters.get("group", "").strip(),
        find=parameters.get("find", "").strip(),
        page=parameters.get("page", ""),
    )
