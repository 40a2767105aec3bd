"""Pools: gathering the pairs of a campaign, with a seat for everybody who shall label them."""

from collections.abc import Mapping, Sequence

from annotation.models import Campaign, Pair, Pool, PoolEntry
from annotation.pooling import Pair as PairKey
from annotation.pooling import Source
from annotation.services.seats import make_seats

BATCH = 1_000


def add_pairs(
    *, campaign: Campaign, pool: Pool, drawn: Mapping[PairKey, Sequence[Source]]
) -> list[Pair]:
    """Store a pool with its pairs: the new ones, each with its seats; all with their sources.

    pool: not saved yet; its pair_count is set here. The caller holds the campaign's lock.
    Pairs are stored by query and document, so that their ids say nothing of ranks.
    """
    known = map_pairs(campaign)
    new = [
        Pair(
            campaign=campaign,
            list_id=campaign.list_id,
            query_id=query,
            document_id=document,
            is_open=campaign.state == Campaign.State.OPEN,
        )
        for query, document in sorted(drawn.keys() - known.keys())
    ]
    pool.campaign, pool.pair_count = campaign, len(new)
    pool.save(force_insert=True)
    new = Pair.objects.bulk_create(new, batch_size=BATCH)
    make_seats(pairs=new, overlap=campaign.overlap)
    known |= {(pair.query_id, pair.document_id): pair.pk for pair in new}
    entries = [
        PoolEntry(pool=pool, pair_id=known[key], sources=[list(source) for source in sources])
        for key, sources in drawn.items()
    ]
    PoolEntry.objects.bulk_create(entries, batch_size=BATCH)
    return new


def map_pairs(campaign: Campaign) -> dict[PairKey, int]:
    """The id of each pair of a campaign."""
    rows = campaign.pairs.order_by().values_list("query_id", "document_id", "pk")
    return {(query, document): pk for query, document, pk in rows}
