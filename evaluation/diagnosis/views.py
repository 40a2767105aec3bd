"""A run looked at query by query, one query rank by rank, and a query ranker by ranker."""

from typing import Any, Final
from uuid import UUID

from django.core.paginator import Page
from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_safe

from evaluation.diagnosis.explanations import Definition
from evaluation.diagnosis.query_results import DEPTHS, get_query_results, list_run_offers
from evaluation.diagnosis.run_explained import (
    Cut,
    RankRow,
    get_neighbours,
    get_run_explained,
)
from evaluation.diagnosis.run_values import get_run_values
from evaluation.diagnosis.selection import RunFilters, RunSelection
from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.queries import kept_measures
from evaluation.pages.rendering import answer_page
from evaluation.permissions import may_withdraw
from evaluation.runs.uploaders import list_uploaders
from judgments.collections.query_metadata import list_segments
from judgments.models import SetLook
from judgments.pages.paging import paged
from judgments.permissions import get_access
from touchstone.measures.asking import every_preset, recognise
from touchstone.measures.scoring import fits

PER_PAGE: Final = 20  # ranks, whose texts take room
MOST_PER_PAGE: Final = 50  # where a measure looks further
ALL_ON_A_PAGE: Final = 1000  # without texts


@require_safe
def run(request: HttpRequest, slug: str, public_id: UUID) -> HttpResponse:
    """A run, and every query's value in it."""
    access = get_access(viewer=request.user, slug=slug)

    def page(filters: RunFilters, number: str) -> dict[str, Any]:
        result = get_run_values(
            access=access, public_id=public_id, filters=filters, cut=paged(number)
        )
        user_id = result.run.created_by_id
        return {
            "page": result,
            "aliases": [one.name for one in result.run.aliases.all()],
            "uploader": list_uploaders(access=access, user_ids=[user_id])[user_id],
            "may_withdraw": may_withdraw(access, result.run),
            **_choices(result.selection),
        }

    return answer_page(
        request,
        "run",
        lambda: page(filters_of(request.GET), request.GET.get("page", "")),
        lambda: page(RunFilters(), ""),
        access=access,
        section="rankers",
        look=SetLook.Page.RUN,
    )


@require_safe
def run_query(request: HttpRequest, slug: str, public_id: UUID, qid: str) -> HttpResponse:
    """What a run returned for one query, and what each rank is worth."""
    access = get_access(viewer=request.user, slug=slug)

    def page(filters: RunFilters, *, number: str = "", whole: bool = False) -> dict[str, Any]:
        def cut(definitions: tuple[Definition, ...]) -> "Cut[Page[RankRow]]":
            deepest = max((one.asked.measure.cutoff or 0 for one in definitions), default=0)
            few = min(max(deepest, PER_PAGE), MOST_PER_PAGE)
            return paged(number, ALL_ON_A_PAGE if whole else few)

        result = get_run_explained(
            access=access,
            public_id=public_id,
            qid=qid,
            filters=filters,
            cut=cut,
            with_texts=not whole,
        )
        neighbours = None
        if result.selection is not None:
            neighbours = get_neighbours(
                selection=result.selection, run=result.run, query=result.query
            )
        more = {"neighbours": neighbours, "is_whole": whole}
        return {"page": result, **more, **_choices(result.selection)}

    return answer_page(
        request,
        "run_query",
        lambda: page(
            filters_of(request.GET),
            number=request.GET.get("page", ""),
            whole=request.GET.get("ranks") == "all",
        ),
        lambda: page(RunFilters()),
        access=access,
        section="rankers",
    )


def _choices(selection: RunSelection | None) -> dict[str, Any]:
    """What the form offers: the measures that the list keeps and the one shown, that one as every
    tool means it that can read this list, and segments."""
    if selection is None:
        return {}
    first, own = selection.asked[0], selection.judgment_list
    kept = [recognise(one).canonical for one in kept_measures(own)]
    shown = () if first.preset else (first.canonical,)
    grades = grades_of(own)
    return {
        "measures": tuple(dict.fromkeys((*kept, *shown))),
        "tools": [one for one in every_preset(first.plain) if fits(one.measure, grades)],
        "segments": list_segments(list_id=own.pk, version=selection.version),
    }


def filters_of(parameters: QueryDict) -> RunFilters:
    """What an address asks for."""
    return RunFilters(
        list_slug=parameters.get("list", ""),
        version=parameters.get("version", "").strip(),
        measure=" ".join(parameters.getlist("measures")).strip() or parameters.get("measure", ""),
        segment=parameters.get("segment", ""),
        set=parameters.get("set", ""),
        sort=parameters.get("sort", ""),
    )


@require_safe
def query_results(request: HttpRequest, slug: str, qid: str) -> HttpResponse:
    """What every ranker shows for one query, side by side."""
    access = get_access(viewer=request.user, slug=slug)
    asked = {name: request.GET.get(name, "") for name in ("list", "version", "depth")}

    def page(runs: list[str], depth: str) -> dict[str, Any]:
        result = get_query_results(
            access=access,
            qid=qid,
            list_slug=asked["list"],
            version=asked["version"],
            runs=runs,
            depth=depth,
        )
        shown = [column.name for column in result.columns]
        options = list_run_offers(access=access, shown=shown)
        return {"page": result, "options": options, "depths": DEPTHS}

    runs = [own for own in request.GET.getlist("runs") if own]
    return answer_page(
        request,
        "query_results",
        lambda: page(runs, asked["depth"]),
        lambda: page([], ""),
        access=access,
        section="queries",
    )
