"""`clicks`: what a click log says. Files only, no database."""

from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from touchstone.cli.running import Write

HELP: Final = (
    "Analyse click logs: UBI NDJSON (also in OpenSearch's bulk format) or CSV. Files may be "
    "gzipped. No server is needed."
)
# What a figure is, and the module that has it: `add_arguments` and `work`, by the figure's name.
FIGURES: Final[Mapping[str, tuple[str, str]]] = {
    "summary": ("count the log's records by what was done with them", "click_evidence"),
    "coec": ("clicks over expected clicks of each query-document pair", "click_evidence"),
    "ctr": ("click-through rates by rank and by document, as models", "click_models"),
    "sdbn": ("simplified dynamic Bayesian network: relevance of each pair", "click_models"),
    "pbm": (
        "position-based model: examination probability of each rank, by four estimators",
        "click_models",
    ),
    "ips": ("off-policy estimate of a policy's reward from another policy's log", "click_policies"),
    "interleaving": (
        "outcome of an interleaving experiment between two rankers",
        "click_interleaving",
    ),
}


def add_arguments(parser: ArgumentParser) -> None:
    figures = parser.add_subparsers(dest="figure", metavar="FIGURE", required=True)
    for name, (words, module) in FIGURES.items():
        own = figures.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
        import_module(f"touchstone.cli.{module}").ADD_ARGUMENTS[name](own)
        own.add_argument("--json", action="store_true", help="print one JSON object")


def work(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Print the figure. Raises FileRefused and BadOptionError."""
    figure = options["figure"]
    module = import_module(f"touchstone.cli.{FIGURES[figure][1]}")
    show: Callable[[Mapping[str, Any], Write, Write], None] = module.WORK[figure]
    show(options, say, warn)
