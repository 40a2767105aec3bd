"""The output of `evaluate`: as a table for people, as trec_eval prints, as JSON, as CSV.

All but the table give every number with all its digits (the shortest that reads back the same).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

from touchstone.files.csv_lines import csv_lines
from touchstone.measures.averages import Average
from touchstone.measures.definition import Measure
from touchstone.measures.differences import Difference, Switch
from touchstone.measures.explanation import Explanation
from touchstone.measures.files import FileValues
from touchstone.measures.wording import describe
from touchstone.tables import aligned


@dataclass(frozen=True)
class Report:
    """What is to be printed.

    names: the measures as they were asked for. runs: by the name that the output calls each.
    per_segment: with the means over each segment's queries; tables and JSON have room for them.
    """

    preset: str | None
    names: tuple[str, ...]
    runs: Mapping[str, FileValues]
    per_query: bool
    per_segment: bool = False


@dataclass(frozen=True)
class ExplainedQuery:
    """One query taken apart; explanations are in the order of the names.

    differences: between the definitions, run by run, where there are several.
    """

    preset: str | None
    query_id: str
    names: tuple[str, ...]
    runs: Mapping[str, tuple[Explanation, ...]]
    differences: Mapping[str, tuple[Difference, ...]] = field(default_factory=dict)


def run_names(paths: Sequence[str]) -> list[str]:
    """What to call each run: its file's name; where two files share that, the path as given."""
    names = [PurePath(path).name for path in paths]
    return [
        path if names.count(name) > 1 else name for path, name in zip(paths, names, strict=True)
    ]


def as_json(report: Report) -> str:
    """{"preset": …, "runs": {run: {"measures": {name: {"mean", "n"}}}}}, and on request more.

    Beside "mean" and "n" then stand "per_query", {qid: value}, and "per_segment",
    {segment: {"mean", "n"}}.
    """
    runs = {name: {"measures": _measures(report, values)} for name, values in report.runs.items()}
    return _json({"preset": report.preset, "runs": runs})


def as_trec(report: Report) -> str:
    """Lines `measure<TAB>query<TAB>value`, the means under `all` last.

    Several runs follow each other, each after a line `runid<TAB>all<TAB>run`, as trec_eval has it.
    """
    lines = []
    for run, values in report.runs.items():
        if len(report.runs) > 1:
            lines.append(f"runid\tall\t{run}")
        if report.per_query:
            for row in _in_id_order(values):
                lines += [
                    f"{name}\t{values.query_ids[row]}\t{float(values.values[row, column])!r}"
                    for column, name in enumerate(report.names)
                    if values.counted[row, column]
                ]
        means = zip(report.names, values.means, strict=True)
        lines += [f"{n}\tall\t{'nan' if m is None else repr(m)}" for n, m in means]
    return "\n".join(lines)


def as_csv(report: Report) -> str:
    """Rows of run, measure, query_id (empty for the mean), value, n (queries in the mean)."""
    return "".join(csv_lines(_csv_rows(report))).rstrip("\n")


def _csv_rows(report: Report) -> Iterator[tuple[object, ...]]:
    yield "run", "measure", "query_id", "value", "n"
    for run, values in report.runs.items():
        for column, name in enumerate(report.names):
            yield run, name, "", values.means[column], values.counts[column]
            if report.per_query:
                for query_id, value in _per_query(values, column).items():
                    yield run, name, query_id, value, ""


def as_table(report: Report) -> str:
    """A table for people, four digits behind the point: a run a line, then its queries."""
    rows = [["run", "queries", *report.names]]
    for run, values in report.runs.items():
        means = ["–" if mean is None else f"{mean:.4f}" for mean in values.means]
        rows.append([run, _span(values.counts), *means])
        if report.per_segment:
            rows += [_segment_cells(name, own) for name, own in values.segments.items()]
        if report.per_query:
            rows += [
                [f"  {values.query_ids[row]}", "", *_row_cells(values, row)]
                for row in _in_id_order(values)
            ]
    return aligned(rows)


SEGMENTED: Final = ("json", "table")
FORMATS: Final[Mapping[str, Callable[[Report], str]]] = {
    "table": as_table,
    "trec": as_trec,
    "json": as_json,
    "csv": as_csv,
}


def explained_as_json(explained: ExplainedQuery) -> str:
    """One query taken apart, as one JSON object."""
    runs = {
        run: {
            name: _explanation(explanation)
            for name, explanation in zip(explained.names, explanations, strict=True)
        }
        for run, explanations in explained.runs.items()
    }
    head = {"preset": explained.preset, "query_id": explained.query_id, "runs": runs}
    apart = {
        run: [_difference(one) for one in differences]
        for run, differences in explained.differences.items()
    }
    return _json({**head, "differences": apart})


def explained_as_table(explained: ExplainedQuery) -> str:
    """One query taken apart, a table a measure: rank by rank, the ideal ranking beside it."""
    blocks = []
    for run, explanations in explained.runs.items():
        for name, explanation in zip(explained.names, explanations, strict=True):
            head = f"{name} of {run}, query {explained.query_id}: {explanation.value!r}"
            if not explanation.counted:
                head = f"{name} of {run}, query {explained.query_id}: not in the mean"
            lines = [head, f"  {describe(explanation.measure)}", _ranks_table(explanation)]
            if explanation.counted:
                lines.append(f"  {explanation.formula}")
            if explanation.dcg is not None:
                lines.append(f"  DCG {explanation.dcg!r}, ideal DCG {explanation.ideal_dcg!r}")
            blocks.append("\n".join(line for line in lines if line))
        labels = {
            own.measure: name for name, own in zip(explained.names, explanations, strict=True)
        }
        differences = explained.differences.get(run, ())
        blocks += [_difference_table(one, run, labels) for one in differences]
    return "\n\n".join(blocks)


EXPLAINED: Final[Mapping[str, Callable[[ExplainedQuery], str]]] = {
    "table": explained_as_table,
    "json": explained_as_json,
}


def _measures(report: Report, values: FileValues) -> dict[str, object]:
    out: dict[str, object] = {}
    for column, name in enumerate(report.names):
        entry: dict[str, object] = {"mean": values.means[column], "n": values.counts[column]}
        if report.per_query:
            entry["per_query"] = _per_query(values, column)
        if report.per_segment:
            entry["per_segment"] = {
                name: {"mean": mean.value, "n": mean.n}
                for name, own in values.segments.items()
                if (mean := own[column]) is not None
            }
        out[name] = entry
    return out


def _per_query(values: FileValues, column: int) -> dict[str, float]:
    """The values of the queries in the mean."""
    rows = [row for row in _in_id_order(values) if values.counted[row, column]]
    return {values.query_ids[row]: float(values.values[row, column]) for row in rows}


def _in_id_order(values: FileValues) -> Iterator[int]:
    """The rows in the order in which trec_eval prints queries: by the bytes of their ids."""
    ids = values.query_ids
    yield from sorted(range(len(ids)), key=lambda row: ids[row].encode())


def _row_cells(values: FileValues, row: int) -> list[str]:
    pairs = zip(values.values[row].tolist(), values.counted[row].tolist(), strict=True)
    return [f"{value:.4f}" if counted else "–" for value, counted in pairs]


def _segment_cells(name: str, result: Sequence[Average | None]) -> list[str]:
    """A line for a segment: its queries, and every measure's mean over them."""
    means = ["–" if own is None or own.value is None else f"{own.value:.4f}" for own in result]
    sizes = [own.n for own in result if own is not None]
    return [f"  segment {name or '(none)'}", _span(sizes) if sizes else "", *means]


def _span(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low}–{high}"


def _explanation(explanation: Explanation) -> dict[str, object]:
    ranks = [
        {
            "rank": rank.rank,
            "doc_id": rank.document.doc_id if rank.document else None,
            "grade": rank.document.grade if rank.document else None,
            "gain": rank.gain,
            "discount": rank.discount,
            "contribution": rank.contribution,
            "ideal_gain": rank.ideal_gain,
            "ideal_contribution": rank.ideal_contribution,
        }
        for rank in explanation.ranks
    ]
    return {
        "measure": explanation.measure.name,
        "reading": describe(explanation.measure),
        "value": explanation.value if explanation.counted else None,
        "formula": explanation.formula,
        "dcg": explanation.dcg,
        "ideal_dcg": explanation.ideal_dcg,
        "ranks": ranks,
    }


def _difference(one: Difference) -> dict[str, object]:
    parts = [
        {
            "parameters": list(part.parameters),
            "before": list(part.before),
            "after": list(part.after),
            "effect": part.effect,
        }
        for part in one.parts
    ]
    return {
        "one": one.one.name,
        "other": one.other.name,
        "value": one.value,
        "other_value": one.other_value,
        "orders": one.orders,
        "parts": parts,
    }


def _difference_table(one: Difference, run: str, labels: Mapping[Measure, str]) -> str:
    """Which parameters make the difference, and how much of it each. labels: names as asked for."""
    values = f"{_short(one.value)} and {_short(one.other_value)}"
    names = [labels.get(measure, measure.name) for measure in (one.one, one.other)]
    lines = [f"{' and '.join(names)} of {run}: {values}"]
    if one.one.family != one.other.family:
        return "\n".join([*lines, "  two measures, not two definitions of one"])
    rows = [["  what is switched", "adds", "of the difference"]]
    for part in one.parts:
        share = f"{100 * part.effect / one.total:.1f} %" if one.total else ""
        rows.append([f"  {_switch(part)}", _signed(part.effect), share.replace("-0.0 ", "0.0 ")])
    rows.append(["  together", _signed(one.total), "100.0 %" if one.total else ""])
    table = [*lines, aligned(rows)]
    if len(one.parts) > 1:
        table.append(f"  Each is the mean over {_orders(one)} of switching them one by one.")
    return "\n".join(table)


def _orders(one: Difference) -> str:
    return f"all {one.orders} orders" if one.is_every_order else f"{one.orders} orders"


def _signed(effect: float) -> str:
    """Four digits, and what is less than those shows how little it is."""
    return f"{effect:+.0e}" if 0 < abs(effect) < 0.00005 else f"{effect:+.4f}"


def _switch(part: Switch) -> str:
    pairs = zip(part.parameters, part.before, part.after, strict=True)
    return ", ".join(f"{name} {_told(old)} → {_told(new)}" for name, old, new in pairs)


def _told(value: object) -> str:
    if isinstance(value, tuple):
        return "{" + ",".join(f"{grade:g}:{gain:g}" for grade, gain in value) + "}"
    if value is None:
        return "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _ranks_table(explanation: Explanation) -> str:
    if not explanation.ranks:
        return "  (no document was returned)"
    gained = explanation.dcg is not None
    head = ["  document", "rank", "grade"]
    head += ["gain", "discount"] if gained else []
    head += ["contribution"]
    head += ["ideal gain", "ideal contribution"] if gained else []
    rows = [head]
    for rank in explanation.ranks:
        document = rank.document
        grade = "" if document is None else "unjudged" if document.grade is None else ""
        if document is not None and document.grade is not None:
            grade = f"{document.grade:g}"
        cells = [f"  {document.doc_id if document else ''}", str(rank.rank), grade]
        cells += [_short(rank.gain), _short(rank.discount)] if gained else []
        cells += [_short(rank.contribution)]
        cells += [_short(rank.ideal_gain), _short(rank.ideal_contribution)] if gained else []
        rows.append(cells)
    return aligned(rows)


def _short(number: float | None) -> str:
    return "" if number is None else f"{number:.4f}".rstrip("0").rstrip(".")


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1)
