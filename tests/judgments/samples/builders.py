"""Frames and samples of the usual world. Keyword-only, fixed seeds."""

import io
from collections.abc import Mapping

from judgments.models import SamplePlan, TrafficFrame
from judgments.samples.designs import SEARCHES, Design
from judgments.samples.services import draw_sample
from judgments.traffic.services import store_frame
from tests.builders import NOW, World
from touchstone.sampling.traffic import read_traffic


def usual_traffic(world: World, more: int = 60) -> dict[str, int]:
    """Searches of every query of the world, which are frequent, and of some that are not in it."""
    known = {query.text: 400 - 10 * place for place, query in enumerate(world.queries)}
    return known | {f"rare query {place}": 1 + 90 // (place + 1) for place in range(more)}


def make_frame(
    *,
    world: World,
    traffic: Mapping[str, int] | None = None,
    segments: Mapping[str, str] | None = None,
    name: str = "May",
) -> TrafficFrame:
    """A frame of these searches by query."""
    searches = usual_traffic(world) if traffic is None else traffic
    lines = ["query,searches,segment" if segments else "query,searches"]
    for query, count in searches.items():
        own = f",{segments[query]}" if segments else ""
        lines.append(f'"{query}",{count}{own}')
    file = io.BytesIO("\n".join(lines).encode())
    return store_frame(
        collection=world.collection,
        name=name,
        blocks=read_traffic(file, name="traffic.csv", columns={}),
        file_name="traffic.csv",
        by=world.ada,
        at=NOW,
    )


def make_sample(
    *,
    world: World,
    frame: TrafficFrame | None = None,
    design: Design | None = None,
    seed: int = 7,
) -> SamplePlan:
    """A sample of the frame, or of the usual one; of 10 queries by size in two strata."""
    usual = Design(by_size=True, cuts=(0.7,), n=10, allocation=SEARCHES)
    return draw_sample(
        frame=frame or make_frame(world=world),
        judgment_list=world.judgments,
        name="",
        design=design or usual,
        seed=seed,
        by=world.ada,
        at=NOW,
    )
