"""Measure names: what is printed is read back; what is not a name is refused."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.measures.definition import CHOICES, FAMILIES, Measure, gain_table
from touchstone.measures.errors import MeasureError
from touchstone.measures.grammar import parse_measure, parse_measures

NUMBERS = st.integers(-5, 9) | st.floats(-100, 100).map(lambda x: round(x, 3) + 0.0)


@st.composite
def measures(draw: st.DrawFn) -> Measure:
    """Any measure that there can be."""
    family = FAMILIES[draw(st.sampled_from(sorted(FAMILIES)))]
    cutoffs = st.integers(1, 1_000_000)
    depths = {"needed": cutoffs, "optional": st.none() | cutoffs, "none": st.none()}
    given_: dict[str, object] = {"cutoff": draw(depths[family.cutoff])}
    for name in sorted(family.parameters & set(CHOICES)):
        given_[name] = draw(st.sampled_from(family.words_of(name)))
    given_.update(draw(of_rounding(given_)))
    if "rel" in family.parameters:
        given_["rel"] = draw(NUMBERS)
    if given_.get("unjudged") == "prior":
        given_["prior"] = draw(st.sampled_from([0, 1, 0.5, -2]))
    if "p" in family.parameters:
        given_["p"] = draw(st.sampled_from([0.5, 0.8, 0.95]))
    if family.name == "ERR":
        given_["top"] = draw(st.none() | st.sampled_from([4, 1.5]))
    if family.name == "nDCG":
        given_.update(draw(of_ndcg(given_)))
    try:
        return Measure(family=family.name, **given_)  # type: ignore[arg-type]
    except MeasureError:
        return draw(measures())


@st.composite
def of_rounding(draw: st.DrawFn, chosen: dict[str, object]) -> dict[str, object]:
    """How many decimals, of a family that can be rounded."""
    decimals = draw(st.none() | st.integers(0, 6)) if "rounding" in chosen else None
    if decimals is not None:
        return {"decimals": decimals}
    return {"rounding": "nearest", "rounded": "query"} if "rounding" in chosen else {}


@st.composite
def of_ndcg(draw: st.DrawFn, chosen: dict[str, object]) -> dict[str, object]:
    """Parameters that only nDCG has, and those that go with others."""
    given_ = dict(chosen)
    tables = st.dictionaries(NUMBERS.map(float), NUMBERS.map(float), min_size=1, max_size=6)
    given_["gain"] = draw(st.sampled_from(["linear", "exp2"]) | tables.map(gain_table))
    given_["empty"] = draw(st.sampled_from([0, 0.5, 1.0, "skip", "error"]))
    if given_["discount"] == "burn-in":
        given_["b"] = draw(st.sampled_from([2, 2.5, 10]))
    if given_["ideal"] == "recall":
        given_["ideal_first"] = draw(st.none() | st.integers(1, 1000))
    if given_["ideal"] == "max":
        given_["top"] = draw(st.none() | st.sampled_from([4, 0.9]))
    return given_


@given(measures())
def test_a_name_is_read_back_as_the_same_measure(measure: Measure) -> None:
    assert parse_measure(measure.name) == measure
    assert parse_measure(measure.name).name == measure.name


@given(measures(), measures())
def test_measures_are_equal_exactly_when_their_names_are(one: Measure, other: Measure) -> None:
    assert (one == other) == (one.name == other.name)


@given(st.text(alphabet=string.printable, max_size=40) | st.text(max_size=40))
def test_any_text_is_a_measure_or_refused(text: str) -> None:
    try:
        measure = parse_measure(text)
    except MeasureError:
        return
    assert parse_measure(measure.name) == measure


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("nDCG@10", "nDCG@10"),
        ("ndcg@10", "nDCG@10"),
        ("NDCG @10".replace(" ", ""), "nDCG@10"),
        (" nDCG ( gain = 'exp2' )@10 ".replace("nDCG (", "nDCG("), "nDCG(gain='exp2')@10"),
        ('nDCG(gain="exp2")', "nDCG(gain='exp2')"),
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain='exp2')@10"),
        ("nDCG(dcg='log2')@10", "nDCG@10"),
        ("nDCG(gains={0:0, 1:1, 2:3})@5", "nDCG(gain={0:0,1:1,2:3})@5"),
        ("nDCG(judged_only=True)@5", "nDCG(unjudged='condensed')@5"),
        ("nDCG(judged_only=False)@5", "nDCG@5"),
        ("nDCG(discount='burn-in',b=2)@5", "nDCG(discount='burn-in',b=2)@5"),
        ("Success@5", "Hit@5"),
        ("MAP(rel=2)@100", "AP(rel=2)@100"),
        ("MRR", "RR"),
        ("P(rel=1)@5", "P@5"),
        ("P(rel=0.5)@5", "P(rel=0.5)@5"),
        ("nDCG()@5", "nDCG@5"),
    ],
)
def test_ways_of_writing_a_measure(written: str, canonical: str) -> None:
    assert parse_measure(written).name == canonical


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("P@0", "the cutoff must be a whole number from 1"),
        ("P@-1", "the cutoff must be a whole number from 1"),
        ("P@1.5", "the cutoff must be a whole number from 1"),
        ("P@", "the cutoff must be a whole number from 1"),
        ("P@١", "the cutoff must be a whole number from 1"),
        ("P@99999999999", "the cutoff must be a whole number from 1"),
        ("P", "needs a cutoff, as in P@10"),
        ("", "is not the name of a measure"),
        ("nDCG@10@5", "is not the name of a measure"),
        ("nDCG(gain='exp2'@10", "is not the name of a measure"),
        ("nDCG10", "is not the name of a measure"),
        ("nDGC@10", "did you mean nDCG?"),
        ("ndcg_cut", "did you mean nDCG?"),
        ("P_0", "is not the name of a measure"),
        ("Rouge@10", "available: nDCG, RR, AP"),
        ("nDCG(gain=exp2)@10", "words in quotes"),
        ("nDCG(gain='exp2',)@10", "name=value"),
        ("nDCG(gain='exp2' ideal='local')@10", "name=value"),
        ("nDCG(gain='exp2',gain='exp2')@10", "set twice"),
        ("nDCG(dcg='exp-log2',gain='linear')@10", "set twice"),
        ("nDCG(dcg='ln')@10", "dcg can't be 'ln'"),
        ("nDCG(base=2)@10", "unknown parameter base"),
        ("nDCG(gain={0:0,0:1})@10", "write a table of gains as"),
        ("nDCG(gain={a:1})@10", "write a table of gains as"),
        ("AP(rel='2')", "finite number"),
        ("AP(rel=1e999)", "finite number"),
        ("AP(rel=" + "1" * 700 + ")", "at most 600 characters"),
    ],
)
def test_what_is_not_a_measure_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(MeasureError) as refused:
        parse_measure(text)
    assert said in refused.value.message
    assert len(refused.value.message) < 500


def test_a_list_of_names_is_cut_outside_parentheses_only() -> None:
    found = parse_measures("nDCG(gain='exp2', ideal='local')@10 RR@10,\tAP\nAP")
    assert [name for name, _ in found] == ["nDCG(gain='exp2', ideal='local')@10", "RR@10", "AP"]


def test_two_names_of_one_measure_are_both_kept_as_they_were_written() -> None:
    assert [name for name, _ in parse_measures("Hit@5 Success@5")] == ["Hit@5", "Success@5"]


def test_an_empty_or_endless_list_is_refused() -> None:
    with pytest.raises(MeasureError, match="enter a measure"):
        parse_measures(" , ")
    with pytest.raises(MeasureError, match="at most 200"):
        parse_measures(" ".join(f"P@{k}" for k in range(1, 202)))


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("P_10", "P@10"),
        ("recall_100", "R@100"),
        ("success_5", "Hit@5"),
        ("map_cut_100", "AP@100"),
        ("recip_rank", "RR"),
        ("map", "AP"),
        ("ndcg", "nDCG"),
        ("Rprec", "Rprec"),
        ("bpref", "Bpref"),
    ],
)
def test_what_trec_eval_prints_is_understood(printed: str, name: str) -> None:
    assert parse_measure(printed) == parse_measure(name)
