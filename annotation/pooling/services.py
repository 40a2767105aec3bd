"""Pools: gathering the pairs of a campaign, with a seat for everyone who shall label them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from annotation.consolidation.services import lock_list
from annotation.models import Campaign, Pair, Pool, PoolEntry
from annotation.permissions import check_may_run
from annotation.pooling.queries import (
    Drawn,
    PoolPlan,
    PoolRefused,
    draw_pool,
    draw_top_up,
    preview_top_up,
)
from annotation.seats.services import make_seats
from judgments.audit import services as audit
from judgments.collections.naming import unless_taken
from judgments.models import QueryOrigin
from judgments.permissions import Access
from judgments.samples.origins import record_origins
from judgments.storage.bulk import insert_rows
from touchstone.pooling.pools import Pair as PairKey
from touchstone.pooling.pools import Source


def build_pool(*, access: Access, campaign: Campaign, plan: PoolPlan, at: datetime) -> Pool:
    """Add the pairs of a pool to a campaign that is not closed; for leads.

    Pairs that are there already stay as they are and gain sources. `preview_pool` shows the
    numbers beforehand. Raises PoolRefused, e.g. where the pool brings nothing new.
    """
    check_may_run(access, campaign)
    drawn = draw_pool(access=access, campaign=campaign, plan=plan)
    return store_pool(
        access=access, campaign=campaign, pool=_planned(access, plan, drawn, at), drawn=drawn.pool
    )


@dataclass(frozen=True)
class ToppedUp:
    """A pool that tops a campaign up. skipped: what was left out and why, in words."""

    pool: Pool
    skipped: tuple[str, ...]


def top_up(*, access: Access, campaign: Campaign, at: datetime) -> ToppedUp:
    """Add what has become new at the campaign's depth since its last pool; for leads.

    Raises PoolRefused where nothing has, with what was skipped.
    """
    check_may_run(access, campaign)
    result = preview_top_up(access=access, campaign=campaign)
    drawn = draw_top_up(access=access, campaign=campaign, plan=result.plan)
    if not drawn.new:
        words = f" Skipped: {'; '.join(result.skipped)}." if result.skipped else ""
        raise PoolRefused("nothing_new", f"These runs add no new pairs.{words}")
    pool = _planned(access, result.plan, drawn, at)
    store_pool(access=access, campaign=campaign, pool=pool, drawn=drawn.pool)
    return ToppedUp(pool, result.skipped)


def _planned(access: Access, plan: PoolPlan, drawn: Drawn, at: datetime) -> Pool:
    return Pool(
        strategy=plan.strategy,
        depth=plan.depth,
        only_unjudged=plan.only_unjudged,
        sample_size=plan.sample_size,
        seed=plan.seed,
        runs=[{"ranker": run.ranker_slug, "run": run.name} for run in drawn.runs],
        saved_set=drawn.saved_set,
        plan=drawn.plan,
        created_at=at,
        created_by=access.user,
    )


def store_pool(
    *, access: Access, campaign: Campaign, pool: Pool, drawn: Mapping[PairKey, Sequence[Source]]
) -> Pool:
    """Add the pairs of a pool that is not saved yet to a campaign that is not closed; for leads.

    Raises PoolRefused where it brings nothing new, or pairs that are open elsewhere by now.
    """
    check_may_run(access, campaign)
    taken = PoolRefused(
        "pairs_open_elsewhere", "Some of these pairs have just been opened in another campaign."
    )
    with unless_taken(taken):  # by a campaign that was opened since the pool was drawn
        lock_list(campaign.list_id, commits=False)
        locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        if locked.state == Campaign.State.CLOSED:
            raise PoolRefused("state", "The campaign is closed.")
        if not add_pairs(campaign=locked, pool=pool, drawn=drawn):
            raise PoolRefused("nothing_new", "These runs add no new pairs.")
        audit.record_by(
            access,
            pool.created_at,
            "campaign.pool_built",
            campaign.name,
            after={"pairs": pool.pair_count, "depth": pool.depth, "runs": pool.runs},
        )
    return pool


def _origin(pool: Pool) -> QueryOrigin.Origin:
    """How the queries of a pool were chosen."""
    if pool.plan_id is not None:
        return QueryOrigin.Origin.SAMPLE
    is_next = pool.strategy == Pool.Strategy.NEXT
    return QueryOrigin.Origin.JUDGE_NEXT if is_next else QueryOrigin.Origin.CHOSEN


def add_pairs(*, campaign: Campaign, pool: Pool, drawn: Mapping[PairKey, Sequence[Source]]) -> int:
    """Store a pool with its pairs, all with their sources, the new ones with their seats.

    pool: not saved yet; its pair_count is set here. The caller holds the campaign's lock.
    Pairs are stored by query and document, so that their ids say nothing of ranks.
    Returns how many pairs are new.
    """
    new = sorted(drawn.keys() - _map_pairs(campaign).keys())
    pool.campaign, pool.pair_count = campaign, len(new)
    pool.save(force_insert=True)
    make_pairs(campaign=campaign, keys=new)
    known = _map_pairs(campaign)
    make_seats(pair_ids=[known[key] for key in new], overlap=campaign.overlap)
    entries = [(pool.pk, known[key], json.dumps(sources)) for key, sources in drawn.items()]
    insert_rows(PoolEntry, ("pool_id", "pair_id", "sources"), entries)
    record_origins(
        list_id=campaign.list_id,
        query_ids={query for query, _ in drawn},
        origin=_origin(pool),
        at=pool.created_at,
    )
    return len(new)


def make_pairs(*, campaign: Campaign, keys: Sequence[PairKey]) -> None:
    """Pairs of query and document that the campaign does not have yet, without seats."""
    columns = (
        "campaign_id", "list_id", "query_id", "document_id", "is_open", "state",
        "label_seq", "consolidated_seq", "committed_seq",
    )  # fmt: skip
    is_open = campaign.state == Campaign.State.OPEN
    rows = [
        (campaign.pk, campaign.list_id, query, document, is_open, Pair.State.OPEN, 0, 0, 0)
        for query, document in keys
    ]
    insert_rows(Pair, columns, rows)


def _map_pairs(campaign: Campaign) -> dict[PairKey, int]:
    rows = campaign.pairs.order_by().values_list("query_id", "document_id", "pk")
    return {(query, document): pk for query, document, pk in rows}
