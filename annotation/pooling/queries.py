"""What a pool would hold, and which pairs have become new since; for leads only."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final
from uuid import UUID

from annotation.models import Campaign, Pair, Pool, PoolEntry
from annotation.permissions import check_may_watch
from evaluation.public import RunChoice, list_ranked_documents, list_runs
from judgments.models import Document, JudgmentList, Query, SamplePlan, SavedSet
from judgments.permissions import Access, NotFound
from judgments.samples.queries import get_plan, list_plan_queries
from judgments.sets.queries import get_set, list_set_queries
from judgments.versions.queries import get_judged
from touchstone.errors import DomainError
from touchstone.pooling import pools
from touchstone.pooling.pools import Pair as PairKey
from touchstone.pooling.pools import Ranked

MOST_RANKS: Final = 5_000_000
MOST_PAIRS: Final = 200_000
AT_ONCE: Final = 5_000


class PoolRefused(DomainError):
    """The pool can't be drawn like this."""


@dataclass(frozen=True, kw_only=True)
class PoolPlan:
    """What to gather: the first `depth` documents of each run (public ids), maybe a sample.

    sample_size: that many of the pairs, uniformly, by `seed`; None takes them all. saved_set: the
    slug of the set whose queries alone are taken; "" takes every query. sample: the number of the
    list's sample whose queries alone are taken.
    """

    runs: tuple[UUID, ...]
    depth: int
    only_unjudged: bool = False
    sample_size: int | None = None
    seed: int = 0
    saved_set: str = ""
    sample: int | None = None

    @property
    def strategy(self) -> Pool.Strategy:
        return Pool.Strategy.DEPTH_K if self.sample_size is None else Pool.Strategy.SAMPLE


@dataclass(frozen=True, kw_only=True)
class PoolPreview:
    """A pool in numbers.

    unanswered: queries of the sample for which no run returned anything; they get no pairs.
    pairs: those that it would add. in_campaign: those of its pairs that are there already.
    already_judged: those with a judgment in the list; left out where only unjudged ones are
    wanted. open_elsewhere: those open in another campaign of the list. without_text: added
    pairs whose query or document is known by its id alone. unsampled: those outside the sample.
    Per query: of the added pairs.
    """

    pairs: int
    queries: int
    per_query_min: int
    per_query_median: float
    per_query_max: int
    in_campaign: int
    already_judged: int
    open_elsewhere: int
    without_text: int
    labels_needed: int
    unanswered: int = 0
    unsampled: int = 0


@dataclass(frozen=True)
class Drawn:
    """A pool that is not stored yet: its pairs with their sources, the runs, and the numbers."""

    pool: pools.Pool
    new: pools.Pool
    runs: tuple[RunChoice, ...]
    saved_set: SavedSet | None
    plan: SamplePlan | None
    preview: PoolPreview


@dataclass(frozen=True)
class TopUpRun:
    """A run and how many of the new pairs it returned."""

    label: str
    is_new: bool
    pairs: int


@dataclass(frozen=True)
class TopUp:
    """What a campaign lacks at its depth by now. plan: what to build.

    skipped: what is left out and why, in words.
    """

    plan: PoolPlan
    preview: PoolPreview
    runs: tuple[TopUpRun, ...]
    skipped: tuple[str, ...]


def preview_pool(*, access: Access, campaign: Campaign, plan: PoolPlan) -> PoolPreview:
    """What building this pool would add to the campaign; writes nothing."""
    return draw_pool(access=access, campaign=campaign, plan=plan).preview


def preview_top_up(*, access: Access, campaign: Campaign) -> TopUp:
    """The pairs that are new at the campaign's depth, from its runs and from those that came later.

    Runs that were there when its newest pool was built and were not chosen stay out.
    """
    check_may_watch(access, campaign)
    newest = get_newest_pool(campaign)
    if newest.strategy == Pool.Strategy.NEXT:
        message = "This pool comes from Judge next and has no depth. Use Judge next again."
        raise PoolRefused("no_depth", message)
    choices = list_runs(access=access)
    used = _used_runs(campaign)
    wanted = [
        choice
        for choice in choices
        if (choice.ranker_slug, choice.name) in used or choice.created_at > newest.created_at
    ]
    plan = PoolPlan(
        runs=tuple(choice.public_id for choice in wanted),
        depth=campaign.depth,
        only_unjudged=newest.only_unjudged,
        sample_size=newest.sample_size,
        seed=newest.seed,
        saved_set=newest.saved_set.slug if newest.saved_set else "",
        sample=newest.plan.number if newest.plan else None,
    )
    drawn = draw_top_up(access=access, campaign=campaign, plan=plan)
    counts = _count_by_run(drawn.new)
    runs = [
        TopUpRun(
            choice.label,
            (choice.ranker_slug, choice.name) not in used,
            counts.get((choice.ranker_slug, choice.name), 0),
        )
        for choice in wanted
    ]
    unchosen = len(choices) - len(wanted)
    return TopUp(
        plan, drawn.preview, tuple(runs), tuple(_say_skipped(campaign, plan, drawn, unchosen))
    )


def _say_skipped(campaign: Campaign, plan: PoolPlan, drawn: Drawn, unchosen: int) -> Iterator[str]:
    """What a top-up leaves out of what the runs returned to its depth, and the runs left out."""
    result = drawn.preview
    if result.in_campaign:
        yield f"{_pairs(result.in_campaign)} already in the campaign"
    if plan.only_unjudged and result.already_judged:
        yield f"{_pairs(result.already_judged)} already judged"
    if campaign.state == Campaign.State.OPEN and result.open_elsewhere:
        yield f"{_pairs(result.open_elsewhere)} open in another campaign for this list"
    if result.unsampled:
        yield f"{_pairs(result.unsampled)} not in the sample"
    if unchosen:
        runs = "1 run that was" if unchosen == 1 else f"{unchosen:,} runs that were"
        yield f"{runs} not chosen for the newest pool"


def _pairs(count: int) -> str:
    return "1 pair" if count == 1 else f"{count:,} pairs"


def draw_pool(*, access: Access, campaign: Campaign, plan: PoolPlan) -> Drawn:
    """Draw a pool, as planned. Raises PoolRefused for one that is too large or has no runs."""

    def sample(pool: pools.Pool) -> pools.Pool:
        if plan.sample_size is None:
            return pool
        return pools.uniform_sample(pool, size=plan.sample_size, seed=plan.seed)

    return _draw(access, campaign, plan, sample)


def draw_top_up(*, access: Access, campaign: Campaign, plan: PoolPlan) -> Drawn:
    """Draw what is missing; of a sampled campaign at the rate of its sample."""
    sampled = _sampled_pairs(campaign, plan)

    def sample(pool: pools.Pool) -> pools.Pool:
        if sampled is None:
            return pool
        return pools.sample_at_rate_of(pool, sampled=sampled, seed=plan.seed)

    return _draw(access, campaign, plan, sample)


def get_newest_pool(campaign: Campaign) -> Pool:
    """The campaign's newest pool. Raises PoolRefused if it has none."""
    newest = campaign.pools.select_related("saved_set", "plan").order_by("-pk").first()
    if newest is None:
        raise PoolRefused("no_pool", "The campaign has no pool yet.")
    return newest


def _draw(
    access: Access,
    campaign: Campaign,
    plan: PoolPlan,
    sample: Callable[[pools.Pool], pools.Pool],
) -> Drawn:
    check_may_watch(access, campaign)
    runs = _chosen_runs(access, plan)
    saved_set = get_set(access=access, slug=plan.saved_set) if plan.saved_set else None
    own = None
    if plan.sample is not None:
        own = get_plan(access=access, list_slug=campaign.list.slug, number=plan.sample)
    only = set(list_set_queries(set_id=saved_set.pk)) if saved_set else None
    if own is not None:
        only = set(list_plan_queries(plan_id=own.pk))
    pool = pools.depth_k_pool(_list_rankings(runs, plan.depth, only), plan.depth)
    answered = {query for query, _ in pool}
    unanswered = len(only - answered) if own is not None and only is not None else 0
    judged = _judged_pairs(campaign.list_id, {query for query, _ in pool})
    judged_count = len(pool.keys() & judged)
    if plan.only_unjudged:
        pool = pools.without(pool, judged)
    whole = len(pool)
    pool = sample(pool)
    unsampled = whole - len(pool)
    known = set(campaign.pairs.order_by().values_list("query_id", "document_id"))
    elsewhere = list_open_pairs(list_id=campaign.list_id, besides=campaign) & pool.keys() - known
    if campaign.state == Campaign.State.OPEN:
        pool = pools.without(pool, elsewhere)  # no pair can be open twice in a list
    new = pools.without(pool, known)
    if len(new) > MOST_PAIRS:
        raise PoolRefused("too_many_pairs", f"A pool can add at most {MOST_PAIRS:,} new pairs.")
    preview = _preview(
        campaign,
        new,
        in_campaign=len(pool) - len(new),
        already_judged=judged_count,
        open_elsewhere=len(elsewhere),
        unanswered=unanswered,
        unsampled=unsampled,
    )
    return Drawn(pool, new, tuple(runs), saved_set, own, preview)


def _chosen_runs(access: Access, plan: PoolPlan) -> list[RunChoice]:
    by_id = {choice.public_id: choice for choice in list_runs(access=access)}
    if not plan.runs:
        raise PoolRefused("no_runs", "Choose at least one run.")
    if any(public_id not in by_id for public_id in plan.runs):
        raise NotFound("run")
    if plan.depth < 1 or (plan.sample_size is not None and plan.sample_size < 1):
        raise PoolRefused("depth_invalid", "Depth and sample size must be at least 1.")
    runs = [by_id[public_id] for public_id in dict.fromkeys(plan.runs)]
    if sum(min(run.rows, run.queries * plan.depth) for run in runs) > MOST_RANKS:
        raise PoolRefused("too_large", "Choose fewer runs or a smaller depth.")
    return runs


def _list_rankings(
    runs: Sequence[RunChoice], depth: int, only: Container[int] | None
) -> Iterator[Ranked]:
    """only: the queries that count; None for all."""
    names = {run.run_id: (run.ranker_slug, run.name) for run in runs}
    for ranked in list_ranked_documents(run_ids=names, depth=depth):
        if only is not None and ranked.query_id not in only:
            continue
        ranker, run = names[ranked.run_id]
        yield Ranked(ranker, run, ranked.query_id, ranked.document_ids)


def _judged_pairs(list_id: int, query_ids: set[int]) -> set[PairKey]:
    head = JudgmentList.objects.values_list("head", flat=True).get(pk=list_id)
    judged = get_judged(list_id=list_id, version=head, query_ids=sorted(query_ids))
    return set(judged.pairs())


def list_open_pairs(*, list_id: int, besides: Campaign | None = None) -> set[PairKey]:
    """The pairs of a list that are open in any campaign, or in any other than this."""
    open_qs = Pair.objects.filter(list=list_id, is_open=True)
    if besides is not None:
        open_qs = open_qs.exclude(campaign=besides)
    return set(open_qs.order_by().values_list("query_id", "document_id"))


def _preview(
    campaign: Campaign,
    new: pools.Pool,
    *,
    in_campaign: int,
    already_judged: int,
    open_elsewhere: int,
    unanswered: int,
    unsampled: int,
) -> PoolPreview:
    per_query: dict[int, int] = {}
    for query, _ in new:
        per_query[query] = per_query.get(query, 0) + 1
    sizes = list(per_query.values())
    return PoolPreview(
        pairs=len(new),
        queries=len(sizes),
        per_query_min=min(sizes, default=0),
        per_query_median=median(sizes) if sizes else 0,
        per_query_max=max(sizes, default=0),
        in_campaign=in_campaign,
        already_judged=already_judged,
        open_elsewhere=open_elsewhere,
        without_text=_count_without_text(new),
        labels_needed=len(new) * campaign.overlap,
        unanswered=unanswered,
        unsampled=unsampled,
    )


def _count_without_text(new: pools.Pool) -> int:
    queries = _stubs(Query, {query for query, _ in new})
    documents = _stubs(Document, {document for _, document in new})
    return sum(query in queries or document in documents for query, document in new)


def _stubs(model: type[Query] | type[Document], pks: Iterable[int]) -> set[int]:
    wanted = sorted(pks)
    result: set[int] = set()
    for start in range(0, len(wanted), AT_ONCE):
        stubs_qs = model.objects.filter(pk__in=wanted[start : start + AT_ONCE], is_stub=True)
        result.update(stubs_qs.order_by().values_list("pk", flat=True))
    return result


def _used_runs(campaign: Campaign) -> set[tuple[str, str]]:
    return {
        (run["ranker"], run["run"])
        for runs in campaign.pools.order_by("pk").values_list("runs", flat=True)
        for run in runs
    }


def _sampled_pairs(campaign: Campaign, plan: PoolPlan) -> list[PairKey] | None:
    """The pairs of the campaign's sample; None where everything was taken."""
    if plan.sample_size is None:
        return None
    pools_qs = campaign.pools.filter(strategy=Pool.Strategy.SAMPLE, seed=plan.seed)
    entries_qs = PoolEntry.objects.filter(pool__in=pools_qs).order_by()
    first = pools_qs.order_by("pk").values_list("pk", flat=True).first()
    if entries_qs.filter(pool=first).count() < plan.sample_size:
        return None  # there were fewer than were asked for
    return list(entries_qs.values_list("pair__query_id", "pair__document_id"))


def _count_by_run(pool: pools.Pool) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for sources in pool.values():
        for source in sources:
            key = (source.ranker, source.run)
            counts[key] = counts.get(key, 0) + 1
    return counts
