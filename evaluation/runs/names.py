"""How runs are named: in addresses, on pages, and which run a name means."""

from collections.abc import Collection, Sequence
from typing import Final
from uuid import UUID

from django.db.models import Max, Q, QuerySet

from evaluation.evaluations.queries import FilterRefused
from evaluation.models import Run, RunAlias
from judgments.permissions import Access, check_may_see_rankings

MOST: Final = 12  # runs at once
MOST_NAMES: Final = 100  # in one request
AT_FIRST: Final = 4  # runs that a page without a choice compares


def pick_run(runs: Sequence[Run], name: str) -> Run | None:
    """Which of some runs a name means: ranker/run, an id, or a ranker (its newest among them)."""
    public_id = _as_id(name)
    matching = [
        run for run in runs if name in (name_of(run), run.ranker.slug) or run.public_id == public_id
    ]
    return max(matching, key=lambda run: run.pk, default=None)


def name_of(run: Run) -> str:
    """How addresses call a run: ranker/run, as commands do."""
    return f"{run.ranker.slug}/{run.name}"


def without_alias(access: Access, name: str) -> str:
    """ranker/run for ranker/alias; any other name as it is."""
    run = _runs_by_alias(access, [name]).get(name)
    return name if run is None else name_of(Run.objects.select_related("ranker").get(pk=run))


def run_label(ranker: str, name: str) -> str:
    """How pages call a run in words, by its ranker's name and `name_of` it.

    What is known from the ranker is said once: "BM25 / run 1" for bm25/bm25-1.
    """
    slug, _, run = name.partition("/")
    rest = run_below(ranker, name)
    if rest != run:
        return f"{ranker} / {rest}"
    return ranker if run.lower() in (ranker.lower(), slug) else f"{ranker} / {run}"


def run_below(ranker: str, name: str) -> str:
    """A run's name where its ranker's stands above: "run 1" for bm25/bm25-1.

    ranker: the ranker's name. name: as of `name_of`.
    """
    slug, _, run = name.partition("/")
    for known in (ranker, slug):
        rest = run[len(known) :]
        if run.lower().startswith(known.lower()) and not rest[:1].isalnum():
            rest = rest.strip(" -_./:#")
            return f"{'run ' if rest.isdecimal() else ''}{rest}" if rest else run
    return run


def find_runs(*, access: Access, names: Sequence[str]) -> list[Run]:
    """The runs that are meant by these names, in their order, none twice.

    A name is ranker/run or ranker/alias, a ranker alone (its newest run), the run's id, or several
    apart by commas. Without names: the newest run of each ranker, four at most. Withdrawn runs are
    found by their full name or id.
    Raises FilterRefused for a name that nothing has, and for more than twelve.
    """
    if not names:
        return list_newest_runs(access)[:AT_FIRST]
    result = list_named_runs(access=access, names=names)
    if len(result) > MOST:
        raise FilterRefused("too_many_runs", f"At most {MOST} runs can be compared at a time.")
    return result


def list_newest_runs(access: Access) -> list[Run]:
    """The newest run of each ranker, the oldest ranker first."""
    newest = {
        run.ranker_id: run for run in _runs_qs(access).filter(withdrawn_at=None).order_by("pk")
    }
    return [newest[ranker_id] for ranker_id in sorted(newest)]


def list_named_runs(*, access: Access, names: Sequence[str]) -> list[Run]:
    """What `find_runs` says of names, up to a hundred different ones, in one query.

    Raises FilterRefused for a name that nothing has, and for more names.
    """
    whole = list(dict.fromkeys(names))
    parts = {name: [part.strip() for part in name.split(",") if part.strip()] for name in whole}
    texts = set(whole).union(*parts.values())
    if len(texts) > MOST_NAMES:
        raise FilterRefused("too_many_names", f"Name at most {MOST_NAMES} runs at a time.")
    by_name = _runs_by_name(access, texts)
    result: dict[int, Run] = {}
    for name in whole:
        # a run's own name may have a comma in it
        for text in [name] if name in by_name else parts[name]:
            run = by_name.get(text)
            if run is None:
                raise FilterRefused("no_run", f"No run named {text[:60]} in this collection.")
            result[run.pk] = run
    return list(result.values())


def _runs_by_name(access: Access, texts: Collection[str]) -> dict[str, Run]:
    """The run of each text that is ranker/run, a ranker (its newest run) or a run's id."""
    named = {text: text.split("/", 1) for text in texts if "/" in text}
    aliases = _runs_by_alias(access, texts)
    ids = {text: public_id for text in texts if (public_id := _as_id(text))}
    rankers = set(texts) - named.keys() - ids.keys()
    newest = (
        Run.objects.filter(
            ranker__collection=access.collection, ranker__slug__in=rankers, withdrawn_at=None
        )
        .values("ranker")
        .annotate(newest=Max("pk"))
        .values("newest")
    )
    wanted = Q(public_id__in=ids.values()) | Q(pk__in=[*aliases.values()]) | Q(pk__in=newest)
    for ranker, name in named.values():
        wanted |= Q(ranker__slug=ranker, name=name)
    runs = list(_runs_qs(access).filter(wanted).order_by("pk"))
    by_id = {run.public_id: run for run in runs}
    by_pk = {run.pk: run for run in runs}
    by_full_name = {name: by_pk[pk] for name, pk in aliases.items()}
    by_full_name |= {name_of(run): run for run in runs}
    # the last of a ranker in this order is its newest; a withdrawn one is never meant
    by_ranker = {run.ranker.slug: run for run in runs if run.withdrawn_at is None}
    result = {text: by_id.get(public_id) for text, public_id in ids.items()}
    result |= {text: by_full_name.get(text) for text in named}
    result |= {text: by_ranker.get(text) for text in rankers}
    return {text: run for text, run in result.items() if run is not None}


def _runs_by_alias(access: Access, texts: Collection[str]) -> dict[str, int]:
    """The run's pk of each text that is ranker/alias."""
    aliases = {alias for text in texts if (alias := text.partition("/")[2])}
    if not aliases:
        return {}
    result = RunAlias.objects.filter(ranker__collection=access.collection, name__in=aliases)
    rows = result.values_list("ranker__slug", "name", "run")
    by_name = {f"{ranker}/{name}": pk for ranker, name, pk in rows}
    return {text: by_name[text] for text in texts if text in by_name}


def _runs_qs(access: Access) -> "QuerySet[Run]":
    check_may_see_rankings(access)
    return Run.objects.select_related("ranker").filter(ranker__collection=access.collection)


def _as_id(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None
