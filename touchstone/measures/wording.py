"""Measures in plain words: one line that says what a number is."""

from collections.abc import Sequence

from touchstone.measures.definition import Measure
from touchstone.measures.parameters import CHOICES, PARAMETERS


def choice_words(parameter: str, value: str) -> str:
    """Description of one value of a parameter, for any measure."""
    choice = PARAMETERS[parameter].choices[value]
    of_families = [f"{family}: {words}" for family, words in choice.by_family.items()]
    words = "; ".join([choice.words, *of_families])
    return words.format(b="b", decimals="that many", lacking="gain")


def parameter_words(measure: Measure, parameters: Sequence[str]) -> str:
    """What some parameters of a measure, which say one thing together, say."""
    own = sorted(parameters, key=lambda name: name in CHOICES)  # numbers first
    phrases = dict.fromkeys(_said(measure, name) for name in own)
    return ", ".join(phrase for phrase in phrases if phrase)


def answers_words(answered: int, queries: int) -> str:
    """How many queries a run answers, where it does not answer all; else ""."""
    if answered >= queries:
        return ""
    return f"answers {answered:,} of {queries:,} quer{'y' if queries == 1 else 'ies'}"


def describe(measure: Measure) -> str:
    """What the measure is, in one line of plain words."""
    its = measure.kind.parameters
    subject = measure.kind.reading.format(
        shown="the whole list" if measure.cutoff is None else _first(measure.cutoff),
        rel=_rel(measure),
        p=measure.p,
        top="the highest of the scale" if measure.top is None else f"{measure.top:g}",
        denominator=_described(measure, "denominator") if "denominator" in its else "",
        of=_described(measure, "of"),
    )
    phrases = _gain_phrases(measure) if measure.family == "nDCG" else []
    if "unjudged" in its:
        phrases += [_described(measure, "unjudged"), _described(measure, "negatives")]
    if measure.family == "AP" and measure.empty != 0.0:
        phrases.append(_said(measure, "empty"))
    if measure.family != "nDCG" and "decimals" in its:
        phrases += _rounding(measure)
    if measure.family == "P" and measure.denominator == "returned":
        phrases.append(_said(measure, "denominator"))
    phrases += [tie_words(measure), _described(measure, "scores")]
    if "queries" in its:
        phrases += _average(measure)
    return f"{subject}: {', '.join(phrase for phrase in phrases if phrase)}."


def tie_words(measure: Measure) -> str:
    """What the measure does with documents of one score."""
    return _described(measure, "ties")


def _average(measure: Measure) -> list[str]:
    queries, average = _described(measure, "queries"), _described(measure, "average")
    if measure.average == "micro":
        return [average, queries.replace("mean over", "over", 1)]
    return [queries, average]


def _gain_phrases(measure: Measure) -> list[str]:
    ideal = _described(measure, "ideal")
    if measure.ideal_first is not None:
        ideal = f"ideal from {_first(measure.ideal_first)} returned"
    if measure.top is not None:
        ideal = f"ideal with grade {measure.top:g} at every rank"
    return [
        _said(measure, "gain"),
        _described(measure, "discount"),
        ideal,
        _described(measure, "ideal_depth"),
        _said(measure, "empty"),
        _described(measure, "negative_ideal"),
        _described(measure, "short"),
        _described(measure, "arithmetic"),
        *_rounding(measure),
    ]


def _rounding(measure: Measure) -> list[str]:
    if measure.decimals is None:
        return []
    return [_described(measure, "rounding"), _described(measure, "rounded")]


def _described(measure: Measure, parameter: str) -> str:
    """What a word of a parameter adds to the measure's one line."""
    choice = PARAMETERS[parameter].choices[getattr(measure, parameter)]
    return _filled(measure, choice.described)


def _said(measure: Measure, parameter: str) -> str:
    """What a parameter of the measure says by itself; "" for nothing."""
    if parameter == "cutoff":
        return "the whole list" if measure.cutoff is None else f"only {_first(measure.cutoff)}"
    value, words = getattr(measure, parameter), PARAMETERS[parameter]
    if isinstance(value, str):
        rounds = parameter != "rounding" or measure.decimals is not None
        choice = words.choices[value]
        said = choice.by_family.get(measure.family, choice.words)
        return _filled(measure, said) if rounds else ""
    if value is None:
        # All of the returned documents, where the ideal is made of them.
        return words.unset if parameter != "ideal_first" or measure.ideal == "recall" else ""
    if parameter == "ideal_first":
        value = _first(value)
    if isinstance(value, tuple):
        value = ", ".join(f"{grade:g} → {gain:g}" for grade, gain in value)
    return _filled(measure, words.value, value)


def _filled(measure: Measure, words: str, value: object = None) -> str:
    return words.format(
        value=value,
        b=_number(measure.b),
        decimals=measure.decimals,
        prior=_number(measure.prior),
        rel=_rel(measure),
        nothing="0" if measure.family == "nDCG" else "not relevant",
        lacking="gain" if measure.family == "nDCG" else "a relevant document",
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _rel(measure: Measure) -> str:
    return f"grade {measure.rel:g} or more"


def _first(cutoff: int) -> str:
    return "the first document" if cutoff == 1 else f"the first {cutoff}"
