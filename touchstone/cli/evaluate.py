"""`evaluate`: measures of run files against a qrels file. Files only, no database."""

from argparse import ArgumentParser
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, Final

from touchstone.cli.own_files import own_runs, read_own_qrels
from touchstone.cli.running import Write
from touchstone.files.collections import read_queries
from touchstone.files.query_ids import read_query_ids
from touchstone.files.subtopics import read_subtopic_qrels
from touchstone.files.trec import QrelsFile, RunToRead, of_queries
from touchstone.measures.asking import Asked, ask_all
from touchstone.measures.definition import Measure
from touchstone.measures.diversity import evaluate_diversity, is_diversity, parse_diversity
from touchstone.measures.errors import MeasureError
from touchstone.measures.files import compare_file, evaluate_file, explain_file
from touchstone.measures.grammar import split_names
from touchstone.measures.judged_files import JudgedQueries
from touchstone.measures.presets import preset
from touchstone.measures.reports import (
    EXPLAINED,
    FORMATS,
    SEGMENTED,
    ExplainedQuery,
    Report,
    run_names,
)
from touchstone.measures.traits import Traits

HELP: Final = (
    "Evaluate TREC run files against a qrels file. Without --preset, by the rules of trec_eval "
    "-c. Files may be gzipped. No server is needed."
)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--qrels", required=True, metavar="FILE")
    parser.add_argument("--run", required=True, nargs="+", action="extend", metavar="FILE")
    parser.add_argument(
        "--measures", required=True, help="for example 'nDCG@10 AP(rel=2) lightgbm:nDCG@10'"
    )
    parser.add_argument("--preset", metavar="NAME", help="use this tool's definitions")
    parser.add_argument("--per-query", action="store_true", help="also print every query's value")
    parser.add_argument(
        "--queries", metavar="FILE", help="queries with weights and segments, as CSV, TSV or JSONL"
    )
    parser.add_argument(
        "--per-segment", action="store_true", help="also print the means of each segment"
    )
    parser.add_argument(
        "--set", metavar="FILE", help="evaluate only these queries: a file with one id per line"
    )
    parser.add_argument(
        "--explain", metavar="QID", help="explain the values of this query, rank by rank"
    )
    parser.add_argument(
        "--collection-size",
        type=int,
        metavar="N",
        help="number of documents in the collection, for Coverage",
    )
    parser.add_argument("--format", choices=sorted(FORMATS), default="table")
    parser.add_argument(
        "--json",
        dest="format",
        action="store_const",
        const="json",
        help="same as --format json",
    )


def work(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Print the values; what is to be known of a preset goes to `warn`.

    Raises FileRefused and MeasureError.
    """
    if any(map(is_diversity, split_names(options["measures"]))):
        say(_with_subtopics(options))
        return
    asked = _asked(options)
    say(_output(asked, options))
    for caveat in dict.fromkeys(one.preset.caveat for one in asked if one.preset):
        if caveat:
            warn(f"Note: {caveat}")


def _with_subtopics(options: Mapping[str, Any]) -> str:
    names = tuple(split_names(options["measures"]))
    if not all(map(is_diversity, names)):
        raise MeasureError("measures with subtopics can't be combined with other measures")
    for option in ("preset", "queries", "per_segment", "set", "explain", "collection_size"):
        if options[option]:
            flag = option.replace("_", "-")
            raise MeasureError(f"--{flag} can't be used with measures with subtopics")
    measures = [parse_diversity(name) for name in names]
    qrels = read_subtopic_qrels(options["qrels"], name=options["qrels"])
    runs = {
        name: evaluate_diversity(qrels, unread.whole(), measures) for name, unread in _runs(options)
    }
    return FORMATS[options["format"]](Report(None, names, runs, options["per_query"]))


def _asked(options: Mapping[str, Any]) -> tuple[Asked, ...]:
    usual = None if options["preset"] is None else preset(options["preset"])
    return ask_all(options["measures"], usual)


def _output(asked: Sequence[Asked], options: Mapping[str, Any]) -> str:
    if options["explain"] is not None and options["format"] not in EXPLAINED:
        raise MeasureError("--explain needs --format table or json")
    if options["per_segment"] and options["format"] not in SEGMENTED:
        raise MeasureError("--per-segment needs --format table or json")
    if options["per_segment"] and options["queries"] is None:
        raise MeasureError("--per-segment needs --queries, a file with each query's segment")
    judged = JudgedQueries(_qrels(options), _traits(options["queries"]))
    names = tuple(one.name for one in asked)
    if options["explain"] is not None:
        return _explained(asked, judged, options)
    plain, presets = [one.plain for one in asked], [one.preset for one in asked]
    size = options["collection_size"]
    runs = {
        name: evaluate_file(judged, run, plain, presets, collection_size=size)
        for name, run in _runs(options)
    }
    report = Report(options["preset"], names, runs, options["per_query"], options["per_segment"])
    return FORMATS[options["format"]](report)


def _qrels(options: Mapping[str, Any]) -> QrelsFile:
    """The qrels; with --set those of its queries."""
    qrels = read_own_qrels(options["qrels"])
    own = _set(options["set"])
    if own is None:
        return qrels
    qrels = of_queries(qrels, own)
    if not qrels.query_ids:
        raise MeasureError(f"no query in {options['set']} is judged in {options['qrels']}")
    return qrels


def _set(path: str | None) -> Container[str] | None:
    return None if path is None else read_query_ids(path, name=path).lines


def _explained(asked: Sequence[Asked], judged: JudgedQueries, options: Mapping[str, Any]) -> str:
    query_id = options["explain"]
    meant = [one.measure for one in asked]
    explained, apart = {}, {}
    for name, unread in _runs(options):
        run = unread.whole()
        explained[name] = explain_file(judged, run, meant, query_id)
        apart[name] = compare_file(judged, run, _pairs(asked, options), query_id)
    names = tuple(one.name for one in asked)
    query = ExplainedQuery(options["preset"], query_id, names, explained, apart)
    return EXPLAINED[options["format"]](query)


def _pairs(asked: Sequence[Asked], options: Mapping[str, Any]) -> list[tuple[Measure, Measure]]:
    """What is held against what: a measure and what its tool makes of it, or the first and each
    other one."""
    if options["preset"] is not None or len(asked) == 1:
        return [(one.plain, one.measure) for one in asked if one.preset is not None]
    return [(asked[0].measure, one.measure) for one in asked[1:]]


def _traits(path: str | None) -> dict[str, Traits] | None:
    """The segment and weight of every query of a file."""
    if path is None:
        return None
    return {
        record.query_id: Traits(record.segment, record.weight)
        for record in read_queries(path, name=path)
    }


def _runs(options: Mapping[str, Any]) -> Iterator[tuple[str, RunToRead]]:
    """The runs by name, to be read one after the other."""
    paths = options["run"]
    return zip(run_names(paths), own_runs(paths, _set(options["set"])), strict=True)
