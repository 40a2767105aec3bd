"""What annotation may use of evaluation: ranked documents for pools, and what labels are worth."""

from evaluation.comparison.two_boards import TwoBoards, get_two_boards
from evaluation.comparison.what_if import (
    OtherBoard,
    Standing,
    WhatIf,
    get_other_board,
    get_resolution,
    list_what_if,
)
from evaluation.judge_next.queries import JudgeNext, NextAsked, asked_of, get_judge_next
from evaluation.live_rankers.pools import (
    SnapshotOutcome,
    count_live_rankers,
    list_snapshot_outcomes,
    start_snapshots,
)
from evaluation.runs.queries import RunChoice, list_ranked_documents, list_runs
from evaluation.runs.selection import ChosenRuns, RunsFilters, get_chosen_runs, runs_filters_of
from evaluation.runs.tags import parse_tags
from evaluation.set_looks.services import count_look
from evaluation.stability.evidence import get_evidence

__all__ = [
    "ChosenRuns",
    "JudgeNext",
    "NextAsked",
    "OtherBoard",
    "RunChoice",
    "RunsFilters",
    "SnapshotOutcome",
    "Standing",
    "TwoBoards",
    "WhatIf",
    "asked_of",
    "count_live_rankers",
    "count_look",
    "get_chosen_runs",
    "get_evidence",
    "get_judge_next",
    "get_other_board",
    "get_resolution",
    "get_two_boards",
    "list_ranked_documents",
    "list_runs",
    "list_snapshot_outcomes",
    "list_what_if",
    "parse_tags",
    "runs_filters_of",
    "start_snapshots",
]
