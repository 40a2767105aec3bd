"""docs/measures.md, made from the registries of measures and presets.

    python -m touchstone.measures.documentation

writes it anew; a test sees that it is current. Numbers on the page are computed, not typed.
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
    "What every number is, to the last bit. One engine (`touchstone/measures/`) computes "
    "leaderboards and the command [`evaluate`](commands.md#evaluate); it needs no database and no "
    "framework. This page is made from its registries by "
    "`python -m touchstone.measures.documentation`."
)
NAMES: Final = (
    "A name is a family, its parameters where they differ from the defaults, and a cutoff: "
    "`nDCG@10`, `RR`, `AP(rel=2)@100`, `nDCG(gain='exp2',ideal='local')@10`. It is ir_measures' "
    "grammar with more parameters, read by our own parser. Names are canonical: two measures are "
    "the same exactly when their names are. What ir_measures writes as `dcg='exp-log2'`, "
    "`gains={…}` and `judged_only=True`, and `Success`, `MAP` and `MRR`, is understood. So "
    "are the names that trec_eval prints, such as `ndcg_cut_10`, `P_10`, `recall_100`, "
    "`map_cut_100` and `recip_rank`: they mean the measure, not its tool's [preset](#presets). "
    "A name led by a preset's, `lightgbm:nDCG@10`, is the measure as that tool means it: in "
    "`evaluate` "
    "and on the pages of a run and of its queries, where any number is taken apart and definitions "
    "stand side by side."
)
SUBTOPICS: Final = (
    "`evaluate` has two measures more of qrels with [subtopics](files.md#qrels-with-subtopics), "
    "under ir_measures' names and with ndeval's values: `alpha_nDCG@20` (Clarke et al. 2008; "
    "`alpha_nDCG(alpha=0.3)@20`), whose ideal ranking takes at each rank the document that gains "
    "most, and `ERR_IA@20` (Chapelle et al. 2011), divided by what documents about all subtopics "
    "would have. Tied documents stand by ascending id, as in ndeval; all judged queries are in the "
    "mean. They are asked for apart from other measures, without `--preset`."
)
EDGES: Final = (
    "What each does where definitions differ most and say least. The standard error of a mean is "
    "s / √n over its queries; ± beside a mean is half of its 95 % interval (Student's t)."
)
USUAL: Final = (
    "The defaults are trec_eval's with `-c`, but that `Judged` and `Unjudged` leave out the "
    "queries that a run does not answer (`ir_measures:Judged@10` counts them as 0, and breaks ties "
    "by ascending id, as that tool does). The rank column of a run plays no part; the score "
    "decides. What is not a mean over queries (`Coverage`, and `Judged` and `Unjudged` with "
    "`average='micro'`) is for `evaluate`, not for leaderboards."
)
PRESET_WORDS: Final = (
    "`evaluate --preset NAME` computes what a public tool prints: the same value of every query to "
    "the last bit, the mean in the tool's own order of summation, rounded where it rounds. Each is "
    "tested against what the tool printed for one small file, where that could be had."
)
# A point a line.
EXACTNESS: Final = (
    "Sums run in rank order; the discounts are made once by the C library's `log2` and pinned by a "
    "test. A query's value does not depend on what else is computed with it.\n"
    "A perfect ranking has exactly 1: the ideal is summed like the ranking, from the same numbers "
    "in the same order.\n"
    "A stored mean, and one without a preset, is exact: each value becomes an integer (× 2^60), "
    "integers are added, and the quotient is rounded once. Tools add floats one by one, so their "
    "means can differ in the last digits; presets do as they do."
)


def measures_page() -> str:
    """The page, as Markdown."""
    sections = {
        "# Measures": (_wrapped(INTRODUCTION),),
        "## Names": (_wrapped(NAMES), _families()),
        "## With subtopics": (_wrapped(SUBTOPICS),),
        "## At the edges": (_wrapped(EDGES), _edges()),
        "## Parameters": (_parameters(), _wrapped(USUAL)),
        "## Which cutoff": (_cutoffs(), _defaults()),
        "## Presets": (_wrapped(PRESET_WORDS), _presets(), _caveats()),
        "## Exactness": ("\n".join(_wrapped(point, "- ") for point in EXACTNESS.splitlines()),),
        "## Commonly repeated numbers": (_table(("claim", "computed"), claims()),),
    }
    parts = (part for title, body in sections.items() for part in (title, *body))
    return "\n\n".join(parts) + "\n"


def _families() -> str:
    rows = ((f"`{f.name}`", f.formula, f.cutoff, f.source) for f in FAMILIES.values())
    return _table(("family", "the value of a query", "cutoff", "source"), rows)


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
    return _table(("parameter", "values, default first", "of", "source"), rows)


def _cutoffs() -> str:
    rows = ((one.cutoffs, one.use, one.why) for one in CUTOFF_USES)
    return _table(("cutoff", "for", "because"), rows)


def _defaults() -> str:
    kept = [measure for measure in DEFAULT_MEASURES if measure.family != "Judged"]
    depths = [str(m.cutoff) for m in DEFAULT_MEASURES if m.family == "Judged"]
    rows = ((f"`{measure.name}`", describe(measure)) for measure in kept)
    table = _table(("a new leaderboard keeps", "in plain words"), rows)
    together = f"{', '.join(depths[:-1])} and {depths[-1]}"
    return (
        f"{table}\n\nand `Judged` at {together}: beside every value stands how much of what the "
        "run shows is judged."
    )


def _presets() -> str:
    rows = ((f"`{one.name}`", one.tool, one.reading) for one in PRESETS.values())
    return _table(("preset", "tool", "what sets it apart"), rows)


def _caveats() -> str:
    told = (p for p in PRESETS.values() if p.caveat and p.caveat != ARRAYS_CAVEAT)
    lines = [f"- `{one.name}`: {one.caveat}" for one in told]
    arrays = [f"`{p.name}`" for p in PRESETS.values() if p.caveat == ARRAYS_CAVEAT]
    lines.append(f"- {', '.join(arrays)}: {ARRAYS_CAVEAT}")
    return "What can't be followed, which `evaluate` says as well:\n\n" + "\n".join(lines)


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
