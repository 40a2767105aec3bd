"""Reading frames: which there are, how concentrated, in which strata."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from judgments.models import SamplePlan, TrafficFrame
from judgments.permissions import Access, NotFound, check_may_see_content, may_see_rankings
from judgments.traffic.packing import unpack_histogram
from touchstone.sampling.errors import SamplingError
from touchstone.sampling.traffic import Concentration, traffic_strata

TOP: Final = (0.0001, 0.001, 0.01, 0.05, 0.1, 0.25, 0.5)  # shares of the queries
SHARES: Final = (0.5, 0.8, 0.9, 0.95, 0.99)  # of the searches
CUTS: Final = (0.5, 0.9)
POINTS: Final = 120  # of the curve


@dataclass(frozen=True)
class FrameRow:
    """A frame. samples: drawn from it; 0 for who may not see them."""

    number: int
    name: str
    is_simulated: bool
    queries: int
    searches: int
    segments: int
    created_at: datetime
    samples: int


@dataclass(frozen=True)
class SampleLink:
    """A sample of any frame, and where it is."""

    list_slug: str
    list_name: str
    number: int
    name: str
    size: int
    frame_name: str
    created_at: datetime


@dataclass(frozen=True)
class TrafficPage:
    """The collection's frames and the samples of them, the newest first."""

    frames: list[FrameRow]
    samples: list[SampleLink]


@dataclass(frozen=True)
class TopRow:
    """The most frequent queries: a share of all, how many, and their share of the searches."""

    share: float
    queries: int
    searches: float

    @property
    def label(self) -> str:
        return f"top {100 * self.share:g}\N{NO-BREAK SPACE}%"


@dataclass(frozen=True)
class StratumRow:
    """A stratum. least: the fewest searches of its queries. shares: of all."""

    name: str
    least: int
    queries: int
    query_share: float
    searches: int
    search_share: float


@dataclass(frozen=True)
class FramePage:
    """top: what the most frequent queries have. needed: how few have a share of the searches.

    curve: (share of queries, share of searches), rising. cuts: of the strata, as they were typed;
    problem: why there are none. has_queries: False once a lead has deleted what users searched for.
    """

    log: FrameRow
    digest: str
    top: list[TopRow]
    needed: list[TopRow]
    curve: list[tuple[float, float]]
    cuts: str
    strata: list[StratumRow]
    problem: str
    has_queries: bool


def get_frame(*, access: Access, number: int) -> TrafficFrame:
    """A frame of the collection; NotFound where there is none."""
    check_may_see_content(access)
    frames = TrafficFrame.objects.filter(collection=access.collection, number=number)
    result = frames.first()
    if result is None:
        raise NotFound("traffic")
    return result


def get_concentration(frame: TrafficFrame) -> Concentration:
    """How its searches are spread over its queries."""
    return unpack_histogram(bytes(frame.histogram))


def get_traffic_page(*, access: Access) -> TrafficPage:
    """The collection's frames, and their samples for those who may see lists."""
    check_may_see_content(access)
    frames = TrafficFrame.objects.filter(collection=access.collection, of_list=None)
    frames = frames.defer("histogram")
    plans_qs = SamplePlan.objects.filter(list__collection=access.collection).order_by("-pk")
    plans = list(plans_qs.select_related("list", "frame")) if may_see_rankings(access) else []
    return TrafficPage(
        [
            _row(one, sum(plan.frame_id == one.pk for plan in plans))
            for one in frames.order_by("-number")
        ],
        [
            SampleLink(
                plan.list.slug,
                plan.list.name,
                plan.number,
                plan.name,
                plan.size,
                plan.frame.name,
                plan.created_at,
            )
            for plan in plans
        ],
    )


def get_frame_page(*, access: Access, number: int, cuts: str | None) -> FramePage:
    """A frame. cuts: percentages as someone typed them; None for the usual ones."""
    frame = get_frame(access=access, number=number)
    result = get_concentration(frame)
    typed = format_cuts(CUTS) if cuts is None else cuts
    strata, problem = [], ""
    try:
        strata = _strata(result, parse_cuts(typed))
    except SamplingError as error:
        problem = error.message
    total = result.total_queries
    return FramePage(
        log=_row(frame, frame.plans.count() if may_see_rankings(access) else 0),
        digest=frame.digest,
        top=[
            TopRow(share, round(share * total), result.share_of_top(round(share * total)))
            for share in TOP
            if round(share * total)
        ],
        needed=[
            TopRow((count := result.queries_for(share)) / total, count, share) for share in SHARES
        ],
        curve=_curve(result),
        cuts=typed,
        strata=strata,
        problem=problem,
        has_queries=frame.blocks.exists(),
    )


def parse_cuts(typed: str) -> tuple[float, ...]:
    """Shares from percentages with commas between; raises SamplingError for anything else."""
    parts = [part.strip().removesuffix("%").strip() for part in typed.split(",") if part.strip()]
    try:
        return tuple(float(part) / 100 for part in parts)
    except ValueError as error:
        raise SamplingError("enter cuts as percentages of the searches, such as 50, 90") from error


def format_cuts(cuts: tuple[float, ...]) -> str:
    """As `parse_cuts` reads them."""
    return ", ".join(f"{100 * cut:.6g}" for cut in cuts)


def _strata(found: Concentration, cuts: tuple[float, ...]) -> list[StratumRow]:
    strata = traffic_strata(found, cuts)
    rows = zip(
        strata.names,
        strata.least.tolist(),
        strata.queries.tolist(),
        strata.searches.tolist(),
        strict=True,
    )
    return [
        StratumRow(
            name,
            least,
            queries,
            queries / found.total_queries,
            searches,
            searches / found.total_searches,
        )
        for name, least, queries, searches in rows
    ]


def _curve(found: Concentration) -> list[tuple[float, float]]:
    """Points that lie evenly on a logarithmic scale of queries, from one query to all."""
    total = found.total_queries
    counts = sorted({round(total ** (place / POINTS)) for place in range(POINTS + 1)})
    return [(count / total, found.share_of_top(count)) for count in counts]


def _row(frame: TrafficFrame, samples: int) -> FrameRow:
    return FrameRow(
        frame.number,
        frame.name,
        frame.is_simulated,
        frame.queries,
        frame.searches,
        len([name for name in frame.segments if name]),
        frame.created_at,
        samples,
    )
