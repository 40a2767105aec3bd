"""Generates docs/measures.md from the registries of measures and presets.

    python -m touchstone.measures.documentation

overwrites the page; a test checks that it is current. Numbers on the page are computed, not typed.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import fill
from typing import Final

from touchstone.measures.defaults import CUTOFF_USES, DEFAULT_MEASURES
from touchstone.measures.definition import FAMILIES, PARAMETERS
from touchstone.measures.presets import ARRAYS_CAVEAT, PRESETS
from touchstone.measures.wording import describe
from touchstone.measures.worked import claims

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "measures.md"
WIDTH: Final = 120

INTRODUCTION: Final = (
    "The exact definition of every measure, parameter and preset. The same engine "
    "(`touchstone/measures/`) computes leaderboards and the command "
    "[`evaluate`](commands.md#evaluate); it needs neither a database nor a framework. This page is "
    "generated from its registries by `.venv/bin/python -m touchstone.measures.documentation`."
)
NAMES: Final = (
    "A name consists of a family, the parameters that differ from their defaults, and a cutoff: "
    "`nDCG@10`, `RR`, `AP(rel=2)@100`, `nDCG(gain='exp2',ideal='local')@10`. The syntax is "
    "ir_measures' with more parameters. Names are canonical: two measures are equal if and only if "
    "their names are. ir_measures' own `dcg='exp-log2'`, `gains={…}` and `judged_only=True`, and "
    "its names `Success`, `MAP` and `MRR`, are accepted. So are the names that trec_eval prints, "
    "such as `ndcg_cut_10`, `P_10`, `recall_100`, `map_cut_100` and `recip_rank`: they select the "
    "measure, not trec_eval's [preset](#presets). A prefix selects the definition of a public "
    "tool, as in `lightgbm:nDCG@10`. It can be used in `evaluate`, and on the pages of a run and "
    "of its queries, which explain values and compare definitions."
)
SUBTOPICS: Final = (
    "`evaluate` has two more measures, for qrels with [subtopics](files.md#qrels-with-subtopics), "
    "with ir_measures' names and ndeval's values: `alpha_nDCG@20` (Clarke et al. 2008; "
    "`alpha_nDCG(alpha=0.3)@20`), with a greedy ideal ranking that takes the document with the "
    "highest gain at each rank, and `ERR_IA@20` (Chapelle et al. 2011), divided by the value of "
    "documents that cover all subtopics. Ties are broken by ascending id, as in ndeval; the mean "
    "is over all judged queries. They can't be combined with other measures or with `--preset`."
)
EDGES: Final = (
    "Cases in which definitions differ most, and which they often leave open. The standard error "
    "of a mean is s / √n over its queries; ± after a mean is half of its 95 % interval "
    "(Student's t)."
)
USUAL: Final = (
    "The defaults are those of trec_eval with `-c`, except that `Judged` and `Unjudged` leave out "
    "queries that a run does not answer (`ir_measures:Judged@10` counts them as 0 and breaks ties "
    "by ascending id, as that tool does). The rank column of a run is ignored; documents are "
    "ordered by score. Measures that are not a mean over queries (`Coverage`, and `Judged` and "
    "`Unjudged` with `average='micro'`) are available in `evaluate`, but not on leaderboards."
)
PRESET_WORDS: Final = (
    "`evaluate --preset NAME` reproduces a public tool's output: every query's value to the last "
    "bit, the mean in the tool's order of summation, and the tool's rounding. If the tool could be "
    "run, its preset is tested against the output for a small file."
)
# A point a line.
EXACTNESS: Final = (
    "Sums are in rank order; discounts are computed once with the C library's `log2` and checked "
    "by a test. A query's value does not depend on what is computed with it.\n"
    "A perfect ranking has a value of exactly 1: the ideal is summed like the ranking, from the "
    "same numbers in the same order.\n"
    "Stored means, and means without a preset, are exact: each value is converted to an integer "
    "(× 2^60), integers are added, and the quotient is rounded once. Tools add floats one by one, "
    "so their means can differ in the last digits; presets reproduce that."
)


def measures_page() -> str:
    """The page, as Markdown."""
    sections = {
        "# Measures": (_wrapped(INTRODUCTION),),
        "## Names": (_wrapped(NAMES), _families()),
        "## With subtopics": (_wrapped(SUBTOPICS),),
        "## Edge cases": (_wrapped(EDGES), _edges()),
        "## Parameters": (_parameters(), _wrapped(USUAL)),
        "## Choosing a cutoff": (_cutoffs(), _defaults()),
        "## Presets": (_wrapped(PRESET_WORDS), _presets(), _caveats()),
        "## Exactness": ("\n".join(_wrapped(point, "- ") for point in EXACTNESS.splitlines()),),
        "## Commonly quoted numbers": (_table(("claim", "computed"), claims()),),
    }
    parts = (part for title, body in sections.items() for part in (title, *body))
    return "\n\n".join(parts) + "\n"


def _families() -> str:
    rows = ((f"`{f.name}`", f.formula, f.cutoff, f.source) for f in FAMILIES.values())
    return _table(("family", "value of a query", "cutoff", "source"), rows)


def _edges() -> str:
    families = list(FAMILIES.values())
    head = ("family", *(edge for edge, _ in families[0].edges.items()))
    rows = ((f"`{f.name}`", *(words for _, words in f.edges.items())) for f in families)
    return _table(head, rows)


def _parameters() -> str:
    rows = []
    for parameter in PARAMETERS.values():
        owners = [f"`{f.name}`" for f in FAMILIES.values() if parameter.name in f.parameters]
        told = " ".join(owners)
        if len(owners) > len(FAMILIES) / 2:
            others = [
                f"`{f.name}`" for f in FAMILIES.values() if parameter.name not in f.parameters
            ]
            told = f"all but {' '.join(others)}" if others else "all"
        rows.append((f"`{parameter.name}`", parameter.words, told, parameter.source))
    return _table(("parameter", "values, default first", "families", "source"), rows)


def _cutoffs() -> str:
    rows = ((one.cutoffs, one.use, one.why) for one in CUTOFF_USES)
    return _table(("cutoff", "use for", "reason"), rows)


def _defaults() -> str:
    kept = [measure for measure in DEFAULT_MEASURES if measure.family != "Judged"]
    depths = [str(m.cutoff) for m in DEFAULT_MEASURES if m.family == "Judged"]
    rows = ((f"`{measure.name}`", describe(measure)) for measure in kept)
    table = _table(("default measure of a list", "definition"), rows)
    together = f"{', '.join(depths[:-1])} and {depths[-1]}"
    return (
        f"{table}\n\nand `Judged` at {together}, because every value is shown with the share of "
        "judged documents."
    )


def _presets() -> str:
    rows = ((f"`{one.name}`", one.tool, one.reading) for one in PRESETS.values())
    return _table(("preset", "tool", "differences"), rows)


def _caveats() -> str:
    told = (p for p in PRESETS.values() if p.caveat and p.caveat != ARRAYS_CAVEAT)
    lines = [f"- `{one.name}`: {one.caveat}" for one in told]
    arrays = [f"`{p.name}`" for p in PRESETS.values() if p.caveat == ARRAYS_CAVEAT]
    lines.append(f"- {', '.join(arrays)}: {ARRAYS_CAVEAT}")
    return "Limitations, which `evaluate` prints as well:\n\n" + "\n".join(lines)


def _wrapped(text: str, bullet: str = "") -> str:
    return fill(
        text,
        WIDTH,
        initial_indent=bullet,
        subsequent_indent=" " * len(bullet),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    shown = ("| " + " | ".join(line) + " |" for line in lines)
    return "\n".join(shown).replace("| --- ", "|---").replace("--- |", "---|")


if __name__ == "__main__":
    PAGE.write_text(measures_page())
