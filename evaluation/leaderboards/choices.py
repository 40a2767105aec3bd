"""What the form of a leaderboard offers to choose from."""

from dataclasses import dataclass

from evaluation.evaluations.queries import kept_measures
from evaluation.leaderboards.board import LeaderboardTable
from evaluation.leaderboards.offers import Offers, list_offers
from evaluation.models import Ranker
from judgments.collections.query_metadata import list_segments
from judgments.models import Release
from touchstone.measures.asking import recognise
from touchstone.measures.defaults import CUTOFF_USES, CutoffUse


@dataclass(frozen=True)
class BoardChoices:
    """releases: the names that changes and versions can be asked for by. runs: those that can be a
    baseline, as addresses and as pages call them. tags: of rankers with a run.

    kept: the measures that the list keeps current, and whether each is shown. others: the rest of
    those shown, in one text. offers: every family, and every tool's definition of the first
    measure shown.
    """

    releases: tuple[str, ...]
    segments: tuple[str, ...]
    runs: tuple[tuple[str, str], ...]
    tags: tuple[str, ...]
    kept: tuple[tuple[str, bool], ...]
    others: str
    offers: Offers
    uses: tuple[CutoffUse, ...]


def list_board_choices(board: LeaderboardTable) -> BoardChoices:
    """What can be chosen beside what a leaderboard shows."""
    shown = [column.name for column in board.measures]
    known = {recognise(one).canonical: one.family != "Judged" for one in kept_measures(board.list)}
    releases = Release.objects.filter(list=board.list).order_by("-pk")
    rankers = Ranker.objects.filter(
        collection=board.list.collection_id, runs__withdrawn_at=None
    ).distinct()
    number = board.version
    segments = list_segments(list_id=board.list.pk, version=number) if number else ()
    return BoardChoices(
        releases=tuple(releases.values_list("name", flat=True)),
        segments=tuple(segments),
        runs=tuple(sorted((row.name, row.label) for row in board.runs)),
        tags=tuple(sorted({tag for ranker in rankers for tag in ranker.tags})),
        kept=tuple((name, name in shown) for name in known if known[name] or name in shown),
        others=" ".join(name for name in shown if name not in known),
        offers=list_offers(board.measures[0].asked.plain),
        uses=CUTOFF_USES,
    )
