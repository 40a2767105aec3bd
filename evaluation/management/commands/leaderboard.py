"""`leaderboard`: what is stored of every run on a list."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandParser

from judgments.management.command import RefusingCommand, two_slugs

if TYPE_CHECKING:
    from evaluation.leaderboards.files import BoardTable, BoardValue


class Command(RefusingCommand):
    help = (
        "Print a list's leaderboard, best run first, from stored evaluations. Other measures, and "
        "versions that are no longer stored, are computed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        from evaluation.leaderboards.files import FORMATS

        super().add_arguments(parser)
        parser.add_argument("list", metavar="COLLECTION/LIST", type=two_slugs)
        parser.add_argument(
            "--version", default="head", help="version number or release name (default: head)"
        )
        parser.add_argument(
            "--measures", default="", help="for example 'nDCG@10 RR@10' (default: the list's)"
        )
        parser.add_argument("--segment", default="", help="use only the queries of this segment")
        parser.add_argument("--set", default="", help="use only the queries of this saved set")
        parser.add_argument(
            "--format",
            choices=("table", *FORMATS),
            default="table",
            help="output format (default: table)",
        )

    def work(self, **options: Any) -> dict[str, Any]:
        from evaluation.evaluations.queries import chosen_columns, counting_measures, list_run_sums
        from evaluation.leaderboards.files import FORMATS
        from judgments.lists.queries import get_version
        from judgments.management.lookup import get_list, get_saved_set

        judgment_list = get_list(*options["list"])
        version = get_version(judgment_list=judgment_list, name=options["version"])
        asked = chosen_columns(judgment_list, options["measures"])
        measures = [one.measure for one in asked]
        counting = counting_measures(judgment_list, measures)
        found = list_run_sums(
            judgment_list=judgment_list,
            version=version,
            measures=[*measures, *(one for one in counting or () if one not in measures)],
            segment=options["segment"],
            saved_set=get_saved_set(judgment_list, options["set"]),
            patience=math.inf,
        )
        names = [one.canonical for one in asked]
        runs = sorted(
            (_plain(own, names, counting) for own in found), key=lambda run: _best_first(run, names)
        )
        result = {
            "collection": options["list"][0],
            "list": options["list"][1],
            "version": version.number,
            "segment": options["segment"],
            "set": options["set"],
            "measures": names,
            "runs": runs,
        }
        if not options["json"]:
            form = FORMATS.get(options["format"])
            text = form.write(_board(result)) if form else f"{_table(result)}\n"
            self.stdout.write(text, ending="")
        return result


def _plain(own: Any, names: Sequence[str], counting: Any) -> dict[str, Any]:
    """A run and its values as plain values. counting: measures that tell how much it answers."""
    values, answered, queries = {}, None, None
    if own.sums is not None:
        values = {
            name: {"mean": one.value, "standard_error": one.error, "n": one.n}
            for name, one in zip(names, own.averages[: len(names)], strict=True)
        }
    if own.sums is not None and counting is not None:
        answered, queries = (own.averages[own.measures.index(measure)].n for measure in counting)
    return {
        "ranker": own.run.ranker.slug,
        "run": own.run.name,
        "id": str(own.run.public_id),
        "version": own.version,
        "answered": answered,
        "queries": queries,
        "values": values,
    }


def _best_first(run: dict[str, Any], names: Sequence[str]) -> tuple[bool, float, str, str]:
    value = run["values"].get(names[0], {}).get("mean")
    return value is None, -(value or 0.0), run["ranker"], run["run"]


def _board(result: dict[str, Any]) -> "BoardTable":
    """The same for a file, with intervals."""
    from evaluation.leaderboards.files import BoardRow, BoardTable

    rows = tuple(
        BoardRow(
            run["ranker"],
            run["run"],
            tuple(_board_value(run["values"].get(name)) for name in result["measures"]),
        )
        for run in result["runs"]
    )
    return BoardTable(_title(result), tuple(result["measures"]), rows)


def _title(result: dict[str, Any]) -> str:
    title = f"{result['collection']}/{result['list']}, version {result['version']}"
    narrowed = [f", {name} {result[name]}" for name in ("segment", "set") if result[name]]
    return title + "".join(narrowed)


def _board_value(value: dict[str, Any] | None) -> "BoardValue":
    from evaluation.leaderboards.files import BoardValue
    from touchstone.statistics.intervals import mean_interval

    if value is None:
        return BoardValue(None, None, None, 0)
    result = mean_interval(value["mean"], value["standard_error"], value["n"])
    low, high = result or (None, None)
    return BoardValue(value["mean"], low, high, value["n"])


def _table(result: dict[str, Any]) -> str:
    """For people: four decimals, the version only where it is not the one asked for."""
    from touchstone.measures.wording import answers_words

    head = ["run", *result["measures"], "queries", ""]
    lines = [head]
    for run in result["runs"]:
        values = [run["values"].get(name) for name in result["measures"]]
        shown = ["–" if v is None or v["mean"] is None else f"{v['mean']:.4f}" for v in values]
        queries = "" if not values or values[0] is None else str(values[0]["n"])
        of_other = run["version"] != result["version"]
        note = "" if not of_other else f"of version {run['version']}" if run["version"] else "due"
        told = "" if run["answered"] is None else answers_words(run["answered"], run["queries"])
        notes = ", ".join(filter(None, (note, told)))
        lines.append([f"{run['ranker']}/{run['run']}", *shown, queries, notes])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = [
        "  ".join(
            cell.ljust(width) if position in (0, len(line) - 1) else cell.rjust(width)
            for position, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([_title(result), *rows])
