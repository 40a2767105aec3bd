"""`evaluate`: measures of run files against a qrels file. Files only, no database."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandParser

from evaluation.measures.errors import MeasureError
from evaluation.measures.files import (
    JudgedQueries,
    compare_file,
    evaluate_file,
    explain_file,
)
from evaluation.measures.grammar import parse_measures
from evaluation.measures.presets import preset
from evaluation.measures.reports import EXPLAINED, FORMATS, ExplainedQuery, Report, run_names
from judgments.formats.errors import FileRefused
from judgments.formats.trec import RunFile, read_qrels, read_run


class Command(BaseCommand):
    help = (
        "Evaluate TREC run files against a qrels file, as trec_eval does. Without --preset its "
        "rules with -c hold. Files may be gzipped; no database is used."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--qrels", required=True, metavar="FILE")
        parser.add_argument("--run", required=True, nargs="+", action="extend", metavar="FILE")
        parser.add_argument("--measures", required=True, help="such as 'nDCG@10 RR@10 AP(rel=2)'")
        parser.add_argument("--preset", metavar="NAME", help="evaluate as this tool does")
        parser.add_argument("--per-query", action="store_true", help="every query's value as well")
        parser.add_argument("--explain", metavar="QID", help="take one query's values apart")
        parser.add_argument(
            "--collection-size", type=int, metavar="N", help="documents there are, for Coverage"
        )
        parser.add_argument("--format", choices=sorted(FORMATS), default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(_output(options))
            if options["preset"] is not None and preset(options["preset"]).caveat:
                self.stderr.write(f"Note: {preset(options['preset']).caveat}")
        except FileRefused as refused:
            self._fail([str(problem) for problem in refused.problems])
        except MeasureError as error:
            self._fail([error.message])

    def _fail(self, lines: list[str]) -> NoReturn:
        self.stderr.write("\n".join(lines))
        sys.exit(2)


def _output(options: Mapping[str, Any]) -> str:
    if options["explain"] is not None and options["format"] not in EXPLAINED:
        raise MeasureError("--explain is printed with --format table or json")
    asked = parse_measures(options["measures"])
    chosen = None if options["preset"] is None else preset(options["preset"])
    judged = JudgedQueries(read_qrels(options["qrels"], name=options["qrels"]))
    names = tuple(name for name, _ in asked)
    measures = [measure for _, measure in asked]
    if options["explain"] is not None:
        query_id = options["explain"]
        explained, apart = {}, {}
        for name, run in _runs(options):
            explained[name] = explain_file(judged, run, measures, query_id, chosen)
            apart[name] = compare_file(judged, run, measures, query_id, chosen)
        query = ExplainedQuery(options["preset"], query_id, names, explained, apart)
        return EXPLAINED[options["format"]](query)
    size = options["collection_size"]
    runs = {
        name: evaluate_file(judged, run, measures, chosen, collection_size=size)
        for name, run in _runs(options)
    }
    return FORMATS[options["format"]](Report(options["preset"], names, runs, options["per_query"]))


def _runs(options: Mapping[str, Any]) -> Iterator[tuple[str, RunFile]]:
    """One run after the other, so that only one is in memory."""
    paths = options["run"]
    for name, path in zip(run_names(paths), paths, strict=True):
        yield name, read_run(path, name=path, text_after_tag=True)
