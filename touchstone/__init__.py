"""Relevance judgments and rankings: measures, file formats, statistics, agreement, pools.

    measures    definitions and presets, scoring, exact means; `files.evaluate_file`
    files       strict readers and writers of qrels, runs, ratings, labels
    statistics  paired tests, intervals, stability, machine judges corrected by people
    agreement   Krippendorff's alpha, kappas, Dawid-Skene, drift, accuracy
    pooling     pools, and what to judge next
    sampling    which queries to judge, and what a sample of them says about all
    clicks      click logs, position bias, click models, interleaving
    bulk        Parquet too large for memory, here or on Spark; exact sums by segment
    client      a server, asked from a notebook or a CI job; `touchstone.Client`
    cli         the command `touchstone`

Importing it imports none of them.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from touchstone.client.api import Client

__all__ = ["Client"]


def __getattr__(name: str) -> Any:
    """`Client`, imported when it is first asked for."""
    if name == "Client":
        from touchstone.client.api import Client  # noqa: PLC0415

        return Client
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
