"""What each family says of its edges, against what the engine does there."""

import pytest

from tests.touchstone.measures.file_builders import judged, run
from touchstone.measures.families import FAMILIES
from touchstone.measures.files import evaluate_file
from touchstone.measures.grammar import parse_measure

# grade of each returned document, best first (None: not judged), and of what is not returned
Case = tuple[list[int | None], list[int]]
NO_RELEVANT: Case = ([0, 0], [0])
MISSING: Case = ([], [1, 2])
SHORT: Case = ([2, 0], [1])
UNJUDGED_FIRST: Case = ([None, 2], [1])
NEGATIVE_FIRST: Case = ([-2, 2], [1])
ZERO_FIRST: Case = ([0, 2], [1])
# The value at k = 10, and whether an unjudged or a negative document is as good as a judged one of
# grade 0, to the last bit.
TABLE: dict[str, tuple[float, float | None, bool, bool]] = {
    # family: no relevant document, query missing (None: not in the mean), unjudged as grade 0,
    # negative as grade 0
    "nDCG": (0, 0, True, True),
    "RR": (0, 0, True, True),
    "AP": (0, 0, True, True),
    "P": (0, 0, True, True),
    "R": (0, 0, True, True),
    "Rprec": (0, 0, True, True),
    "SetP": (0, 0, True, True),
    "SetR": (0, 0, True, True),
    "SetF": (0, 0, True, True),
    "NumRet": (2, 0, True, True),
    "Hit": (0, 0, True, True),
    "ERR": (0, 0, True, True),
    "RBP": (0, 0, True, True),
    "RBPResidual": (0.8**2, 1, False, True),
    "Bpref": (0, 0, False, False),
    "infAP": (0, 0, False, False),
    "Judged": (1, None, False, True),
    "Unjudged": (0, None, False, True),
}
MEANS = [family for family in FAMILIES.values() if family.per_query]


def name_of(family: str, cutoff: int = 10) -> str:
    return family if FAMILIES[family].cutoff == "none" else f"{family}@{cutoff}"


def value(name: str, case: Case) -> float | None:
    """The value of query q, None outside the mean; another keeps the files from being empty."""
    shown, hidden = case
    judgments = [(f"d{i}", g) for i, g in enumerate(shown) if g is not None]
    judgments += [(f"h{i}", g) for i, g in enumerate(hidden)]
    qrels = "\n".join(f"q {doc} {grade}" for doc, grade in judgments) + "\nz z 2"
    ranked = "\n".join(f"q d{i} {100 - i}" for i in range(len(shown))) + "\nz z 1"
    found = evaluate_file(judged(qrels), run(ranked), [parse_measure(name)])
    row = found.query_ids.index("q")
    return float(found.values[row, 0]) if found.counted[row, 0] else None


def test_every_family_has_a_row_here() -> None:
    assert set(TABLE) == {family.name for family in MEANS}


@pytest.mark.parametrize("family", sorted(TABLE))
def test_without_a_relevant_document_and_without_an_answer(family: str) -> None:
    none, missing, *_ = TABLE[family]
    edges = FAMILIES[family].edges
    assert value(name_of(family), NO_RELEVANT) == pytest.approx(none, abs=1e-15)
    assert value(name_of(family), MISSING) == missing
    if "does not matter" not in edges.no_relevant:
        assert f"{none:g}" in edges.no_relevant
    assert edges.missing.startswith("not in the mean" if missing is None else f"{missing:g}")


@pytest.mark.parametrize("family", sorted(TABLE))
def test_unjudged_documents_and_grades_below_zero(family: str) -> None:
    *_, unjudged_as_zero, negative_as_zero = TABLE[family]
    name, edges = name_of(family), FAMILIES[family].edges
    zero = value(name, ZERO_FIRST)
    assert (value(name, UNJUDGED_FIRST) == zero) == unjudged_as_zero
    assert (value(name, NEGATIVE_FIRST) == zero) == negative_as_zero
    if unjudged_as_zero:
        assert edges.unjudged.startswith(
            ("no gain", "not relevant", "never satisfy", "counted, like any document")
        )
    if not negative_as_zero and family == "Bpref":
        assert edges.negatives == "treated as unjudged"
        assert value(name, NEGATIVE_FIRST) == value(name, UNJUDGED_FIRST)


@pytest.mark.parametrize("family", sorted(TABLE))
def test_a_cutoff_beyond_the_list_adds_nothing_unless_it_is_a_divisor(family: str) -> None:
    if FAMILIES[family].cutoff == "none":
        assert FAMILIES[family].edges.short.startswith("no cutoff")
        return
    at_end, beyond = value(name_of(family, 2), SHORT), value(name_of(family, 10), SHORT)
    words = FAMILIES[family].edges.short
    if family == "P":
        assert (at_end, beyond) == (1 / 2, 1 / 10)
        assert words.startswith("still divided by k")
    elif family == "nDCG":  # its ideal looks further than the list
        assert beyond < 1
        assert value("nDCG(short='zero')@10", SHORT) == 0
    elif family == "RBPResidual":
        assert beyond == at_end
        assert "unknown" in words
    else:
        assert beyond == at_end, words


TIED_RUN = "q a 1\nq b 1\nz z 1"


@pytest.mark.parametrize("family", sorted(TABLE))
def test_tied_scores_are_settled_by_the_rule_or_averaged(family: str) -> None:
    kind = FAMILIES[family]
    ties = kind.words_of("ties")

    def tied(rule: str) -> float:
        name = name_of(family, 1)
        bare, at, cutoff = name.partition("@")
        found = evaluate_file(
            judged("q a 2\nq b 0\nz z 2"),
            run(TIED_RUN),
            [parse_measure(f"{bare}(ties='{rule}'){at}{cutoff}")],
        )
        return float(found.values[found.query_ids.index("q"), 0])

    by_rule = {rule: tied(rule) for rule in ties}
    # docid descending puts b, which is not relevant, first; ascending and as listed put a there
    assert by_rule["listed"] == by_rule["docid_asc"]
    if "averaged" in ties:
        assert by_rule["averaged"] == pytest.approx((by_rule["docid"] + by_rule["docid_asc"]) / 2)
        assert "averaged" in kind.edges.ties
    else:
        assert "broken by `ties`" in kind.edges.ties


def coverage_of(name: str, qrels: str, ranked: str, size: int = 4) -> float | None:
    found = evaluate_file(judged(qrels), run(ranked), [parse_measure(name)], collection_size=size)
    return found.means[0]


def test_catalogue_coverage_says_what_it_does_at_its_edges() -> None:
    edges = FAMILIES["Coverage"].edges
    assert {family.name for family in FAMILIES.values() if not family.per_query} == {"Coverage"}
    qrels, relevant = "q a 2\nq b -1\nq c 1\nz a 1", "Coverage(of='relevant')"
    # no relevant document: of all documents it is what it was, of the relevant ones undefined
    assert edges.no_relevant == "undefined with `of='relevant'`"
    assert coverage_of("Coverage@2", "q a 0", "q a 1") == 1 / 4
    assert coverage_of(f"{relevant}@2", "q a 0", "q a 1") is None
    # a query that the run does not answer shows nothing
    assert edges.missing == "adds nothing"
    assert coverage_of("Coverage@2", qrels, "z a 1") == 1 / 4
    # unjudged documents count as shown, but are not relevant
    assert edges.unjudged == "counted as shown, not relevant"
    assert coverage_of("Coverage@2", qrels, "q a 2\nq x 1") == 2 / 4
    assert coverage_of(f"{relevant}@2", qrels, "q a 2\nq x 1") == 1 / 2
    # k beyond the list: fewer are shown
    assert edges.short == "fewer documents count"
    assert coverage_of("Coverage@10", qrels, "q a 2\nq x 1") == 2 / 4
    # negative grades are not relevant, whatever the threshold was before
    assert edges.negatives == "not relevant"
    assert coverage_of(f"{relevant}@1", qrels, "q b 1") == 0.0
    # ties are settled before the cutoff, by the rule
    tied = "q a 1\nq x 1"
    assert coverage_of(f"{relevant}@1", qrels, tied) == 0.0
    assert coverage_of("Coverage(of='relevant',ties='docid_asc')@1", qrels, tied) == 1 / 2
