"""trec_eval's own test inputs give its own outputs, in every variant of options that we have.

Every line of every output is either met, to the four decimals that are printed, or its measure
stands in NOT_OURS with the reason.
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from touchstone.files.trec import RunFile, read_qrels, read_run
from touchstone.measures.files import FileValues, evaluate_file
from touchstone.measures.grammar import parse_measure
from touchstone.measures.judged_files import JudgedQueries
from touchstone.measures.ordering import rank_order
from touchstone.measures.presets import preset

pytestmark = pytest.mark.data


@dataclass(frozen=True)
class Case:
    """One of its tests. rel: what it was given with -l. first: with -M, only so many documents."""

    output: str
    qrels: str
    run: str
    preset: str = "trec_eval"
    rel: int = 1
    first: int | None = None


CASES: Final = (
    Case("out.test", "qrels.test", "results.test"),
    Case("out.test.a", "qrels.test", "results.test"),
    Case("out.test.aq", "qrels.test", "results.test"),
    Case("out.test.aq", "qrels.test.with-comments", "results.test"),
    Case("out.test.aqc", "qrels.test", "results.trunc", "trec_eval_c"),
    Case("out.test.aqcM", "qrels.test", "results.trunc", "trec_eval_c", first=100),
    Case("out.test.aql", "qrels.rel_level", "results.test", rel=2),
    # No output of its own, but it is query 302 of the others.
    Case("out.test.aq", "qrels-302.test", "results-302.test"),
)
# An output that is none of measures: what Z-scores standardise is met in out.test.aq.
NO_OUTPUT_OF_OURS: Final = {"out.test.aqZ": "-Z: scores standardised by a table of other runs"}

AT_RANKS: Final = {
    "ndcg_cut": "nDCG",
    "P": "P",
    "recall": "R",
    "success": "Hit",
    "map_cut": "AP",
    "unj": "Unjudged",
}
WHOLE: Final = {
    "ndcg": "nDCG",
    "map": "AP",
    "recip_rank": "RR",
    "Rprec": "Rprec",
    "Rprec_mult_1.00": "Rprec",
    "bpref": "Bpref",
    "infAP": "infAP",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_F": "SetF",
    "rbp": "RBP(p=0.9)",
    "rbp_resid": "RBPResidual(p=0.9)",
}
NOT_OURS: Final = {
    "runid": "no number",
    r"relstring(_\d+)?": "no number",
    r"num_(ret|rel|rel_ret|nonrel_judged_ret)": "counts, not measures",
    r"gm_(map|bpref)": "geometric means: ours are arithmetic",
    r"11pt_avg|iprec_at_recall_[01]\.\d\d": "interpolated precision, which hides the ranks",
    r"Rprec_mult_(0\.\d0|1\.[2-8]0|2\.00)": "precision at multiples of R",
    r"(set_)?relative_P(_\d+)?": "precision by what could be had at a cutoff",
    "set_map": "of sets without an order",
    "ndcg_rel|Rndcg|G|binG": "other normalisations of its authors', in no other tool",
    "utility": "coefficients without a meaning of their own",
}
# Measures of one name that are not the same there: with grades its RBP counts each as grade / top
# grade, whatever -l says; a grade below 0 is unjudged to it; and a query without an answer, of
# which nothing is known, has residual 0 there, where ours is 1.
OTHERWISE: Final = {
    "out.test.aql": {"rbp", "rbp_resid", "unj_5", "unj_10", "unj_20"},
    "out.test.aqc": {"rbp_resid"},
    "out.test.aqcM": {"rbp_resid"},
}


@cache
def judged(path: Path) -> JudgedQueries:
    return JudgedQueries(read_qrels(path, name=path.name))


@cache
def ranked(path: Path, first: int | None) -> RunFile:
    run = read_run(path, name=path.name, text_after_tag=True)
    return run if first is None else cut(run, first)


def cut(run: RunFile, first: int) -> RunFile:
    """What -M does: only the best documents of each query are read."""
    kept, starts = [], [0]
    for row in range(len(run.query_ids)):
        span = run.span(row)
        order = rank_order(run.doc_ids(row), run.scores[span])[:first]
        kept.append(np.sort(order) + span.start)
        starts.append(starts[-1] + len(order))
    places = np.concatenate(kept)
    return replace(run, starts=np.array(starts), ids=run.ids.at(places), scores=run.scores[places])


def printed(path: Path) -> list[tuple[str, str, str]]:
    """(measure, query, value) of each line."""
    lines = path.read_text().splitlines()
    return [(cells[0], cells[1], cells[2]) for cells in map(str.split, lines)]


def our_name(theirs: str, case: Case) -> str | None:
    """Our name of one of its measures; None for those that we have not."""
    if theirs in OTHERWISE.get(case.output, ()):
        return None
    family, _, cutoff = theirs.rpartition("_")
    name = WHOLE.get(theirs)
    if family in AT_RANKS and cutoff.isdigit():
        name = f"{AT_RANKS[family]}@{cutoff}"
    if name is None or case.rel == 1 or name.startswith(("nDCG", "Unjudged")):
        return name
    head, at, cutoff = name.partition("@")
    inside = head.partition("(")[2].rstrip(")")
    parameters = ",".join(part for part in (inside, f"rel={case.rel}") if part)
    return f"{head.partition('(')[0]}({parameters}){at}{cutoff}"


def evaluated(case: Case, theirs: str, raw: Path) -> FileValues | None:
    ours = our_name(theirs, case)
    if ours is None:
        return None
    measure = parse_measure(ours)
    chosen = preset(case.preset)
    if measure.family not in chosen.families:  # RBP: no preset has it, the same queries count
        measure = replace(measure, queries=chosen.parameters["queries"])  # type: ignore[arg-type]
        return evaluate_file(
            judged(raw / case.qrels), ranked(raw / case.run, case.first), [measure]
        )
    return evaluate_file(
        judged(raw / case.qrels), ranked(raw / case.run, case.first), [measure], chosen
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.output} {case.qrels}")
def test_every_line_of_a_measure_that_we_have_is_met(case: Case, data_dir: Path) -> None:
    raw = data_dir / "trec-eval-reference" / "raw"
    lines = printed(raw / case.output)
    whole = "-302" not in case.qrels
    found = {theirs: evaluated(case, theirs, raw) for theirs in {name for name, _, _ in lines}}
    met, wrong = 0, []
    for theirs, query_id, value in lines:
        own = found[theirs]
        if own is None or not (whole or query_id == "302"):
            continue
        number = own.means[0]
        if query_id != "all":
            number = float(own.values[own.query_ids.index(query_id), 0])
        met += 1
        if f"{number:.4f}" != value:
            wrong.append(f"trec_eval's {theirs} of {query_id} is {value}, ours is {number!r}")
    assert wrong == [], case
    assert met > (10 if case.output == "out.test" else 45)
    counted = found["ndcg_cut_10"] if "ndcg_cut_10" in found else found["map"]
    assert counted is not None
    n_queries = {value for name, query_id, value in lines if (name, query_id) == ("num_q", "all")}
    assert not whole or {str(counted.counts[0])} == n_queries


def test_what_we_have_not_is_named_with_its_reason(data_dir: Path) -> None:
    raw = data_dir / "trec-eval-reference" / "raw"
    outputs = {path.name for path in raw.glob("out.*")}
    assert outputs == {case.output for case in CASES} | set(NO_OUTPUT_OF_OURS)
    case = CASES[0]
    names = {name for one in CASES for name, _, _ in printed(raw / one.output)} - {"num_q"}
    explained = {name for name in names if any(re.fullmatch(p, name) for p in NOT_OURS)}
    ours = {name for name in names if our_name(name, case) is not None}
    assert names == explained | ours
    assert not explained & ours
    standardised = {name.removeprefix("Z") for name, _, _ in printed(raw / "out.test.aqZ")}
    assert standardised - {"num_q"} <= names
