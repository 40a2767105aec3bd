"""What the figures of a campaign come to: a verdict in words, its grounds, and what to do next.

The bounds for alpha are Krippendorff's: 0.800 to rely on labels, 0.667 for tentative conclusions
(Content Analysis, 2nd ed. 2004, p. 241). They are asked of the lower end of the interval first,
because that is what can be relied on. Agreement is not being right: where enough pairs were
checked, the share of grades that are right, calibrated by them, limits the verdict.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil
from typing import Any, Final, Literal

from annotation.quality.figures import LEVEL
from judgments.pages.words import fraction, percent, signed
from touchstone.agreement.calibration import FEWEST_CALIBRATED

Tone = Literal["good", "warn", "bad"]
Act = Literal[
    "overlap", "segment", "decide", "differ", "gold", "person", "train", "label", "guideline"
]

RELY: Final = 0.8
TENTATIVE: Final = 0.667
FEWEST_PAIRS: Final = 30  # pairable, before a verdict is more than a guess
FEWEST_IN_SEGMENT: Final = 15
WIDE: Final = 0.2  # an interval of alpha that is wider says little
ACCURATE: Final = 0.8  # of the grades are right, or labels are not good enough to decide on
MOSTLY_RIGHT: Final = 0.5  # or good enough for nothing
MOST_NAMED: Final = 3
RIGHT_IN: Final = {"right": "right by the others’ labels", "gold": "right on gold"}
CHECKS_WANTED: Final = 20  # gold checks of a person, before their accuracy says much
Figures = Mapping[str, Any]


@dataclass(frozen=True)
class Advice:
    """Something to do next. about: what it is about: a segment's name, somebody's place."""

    act: Act
    text: str
    about: str = ""


@dataclass(frozen=True)
class Verdict:
    """tone: how it is coloured. grounds: sentences that say what it rests on."""

    tone: Tone
    text: str
    grounds: tuple[str, ...]
    advice: tuple[Advice, ...]


@dataclass(frozen=True)
class Situation:
    """What the campaign is like beside its figures.

    names: of the annotators, in the figures' order. grades: names, worst first.
    """

    overlap: int
    is_open: bool
    tied: int
    differing: int
    labels_left: int
    names: tuple[str, ...]
    grades: tuple[str, ...]


def verdict(figures: Figures, situation: Situation) -> Verdict:
    """Whether these labels are good enough to decide on, why, and what to do next."""
    if not figures.get("labels"):
        advice = [Advice("label", "The report appears after the first labels.")]
        return Verdict("warn", "No labels yet.", (), tuple(advice))
    found = figures["overall"]["alpha"][LEVEL]
    tone, text = _limited(*_judged(found), figures["accuracy"]["calibrated"])
    told = figures.get("resolution")
    if told and tone != "bad" and found["value"] is not None and found["units"] >= FEWEST_PAIRS:
        text = (
            f"{text[:-1]}: rankers {told['apart']:.2g} apart in {told['measure']} "
            "can be told apart."
        )
    exceptions = list(_exceptions(figures)) if tone != "bad" and found["value"] is not None else []
    if exceptions:
        tone = "warn"
        text = f"{text[:-1]}; not for {' or '.join(exceptions[:MOST_NAMED])}."
    return Verdict(
        tone,
        text,
        tuple(_grounds(figures, situation)),
        tuple(_advice(figures, situation, found)),
    )


def describe(finding: Figures, grades: tuple[str, ...], drift_of: str) -> str:
    """A finding about somebody, in words that follow their name.

    drift_of: what has drifted where something has: "bias", in steps, or "right", a share.
    """
    value, usual = finding["value"], finding["usual"]
    words = {
        "one_grade": lambda: (
            f"gives “{grades[finding['grade']]}” in {percent(value)} of labels; "
            f"expected from the others’ labels: {percent(usual)}"
        ),
        "chance": lambda: f"agrees with the others no better than chance (correlation {value:.2f})",
        "careless": lambda: (
            f"has an estimated accuracy of {percent(value)}; the median annotator has "
            f"{percent(usual)}"
        ),
        "generous": lambda: _leaning(value, "high", by_gold=finding["by_gold"]),
        "severe": lambda: _leaning(-value, "low", by_gold=finding["by_gold"]),
        "hasty": lambda: f"takes {value:.1f} seconds per label; typical: {usual:.1f}",
        "drifting": lambda: _drifted(finding, drift_of),
        "gold_drift": lambda: _drifted(finding, "gold"),
    }
    return words[finding["kind"]]()


def _leaning(steps: float, side: str, *, by_gold: bool) -> str:
    """Only gold says that a grade is too high; labels say that it is higher than others'."""
    if by_gold:
        return f"grades {steps:.1f} steps too {side}, by gold"
    return f"grades {steps:.1f} steps {side}er than the median annotator"


def _drifted(finding: Figures, drift_of: str) -> str:
    since = datetime.fromtimestamp(finding["at"], UTC).date().isoformat()
    before, after = finding["usual"], finding["value"]
    if drift_of in RIGHT_IN:
        return (
            f"has changed on {since}: {RIGHT_IN[drift_of]} in {percent(before)} before, "
            f"{percent(after)} since"
        )
    return (
        f"has changed on {since}: {signed(before, 1)} steps from the others before, "
        f"{signed(after, 1)} since"
    )


COURSES: Final[Mapping[str, tuple[str, Callable[[float], str]]]] = {
    "alpha": ("Alpha with the others", lambda value: fraction(value, 2)),
    "bias": ("Bias, in steps from the others", lambda value: f"{signed(value, 1)} steps"),
    "right": ("Agrees with the others’ labels", percent),
    "grade": ("Mean grade, in steps from the worst", "{:.1f} steps".format),
    "seconds": ("Seconds per label", "{:.1f} seconds".format),
    "gold": ("Right on gold", percent),
}


def describe_change(what: str, change: Figures) -> str:
    """When something about somebody changed, from what to what, and what happened then."""
    day = datetime.fromtimestamp(change["at"], UTC).date().isoformat()
    written = COURSES[what][1]
    near = "; ".join(event["text"] for event in change["near"])
    then = f" Around that time: {near}." if near else ""
    before, after = written(change["before"]), written(change["after"])
    return f"Changed on {day}: {before} before, {after} since.{then}"


def worst_confusion(confusion: list[list[int]]) -> tuple[int, int] | None:
    """The grade that somebody most often misses, and what they say instead; None without one."""
    found = [
        (count, step, given)
        for step, row in enumerate(confusion)
        for given, count in enumerate(row)
        if step != given and count
    ]
    if not found:
        return None
    _, step, given = max(found, key=lambda one: (one[0], -one[1], -one[2]))
    return step, given


def _judged(found: Figures) -> tuple[Tone, str]:
    if found["why"] == "no_overlap":
        return "warn", "Not enough overlap to say whether these labels can be trusted."
    if found["why"] == "no_variation":
        return "warn", "All labels have the same grade, so agreement can’t be measured."
    if found["units"] < FEWEST_PAIRS:
        return "warn", f"Too early to say: only {found['units']} pairs have two labels."
    low = found["value"] if found["low"] is None else found["low"]
    levels: tuple[tuple[float, Tone, str], ...] = (
        (RELY, "good", "Good enough to decide on"),
        (TENTATIVE, "warn", "Good enough for tentative conclusions"),
    )
    for bound, tone, words in levels:
        if found["value"] >= bound:
            unsure = "" if low >= bound else f" (the interval extends below {bound:.3f})"
            return tone, f"{words}{unsure}."
    return "bad", "Not good enough to decide on."


def _limited(tone: Tone, text: str, calibrated: Figures | None) -> tuple[Tone, str]:
    """The verdict of agreement, as far as pairs with a known grade bear it out."""
    if calibrated is None:
        return tone, f"{text[:-1]}, by agreement alone." if text.startswith("Good") else text
    if calibrated["high"] < MOSTLY_RIGHT:
        return "bad", "Not good enough to decide on: most grades are wrong."
    if tone == "good" and calibrated["high"] < ACCURATE:
        share = percent(calibrated["value"])
        return "warn", f"Good enough for tentative conclusions: {share} of the grades are right."
    return tone, text


def _exceptions(figures: Figures) -> Iterator[str]:
    """Segments that are worse than the whole beyond chance."""
    segments = figures["segments"]
    for row in segments if len(segments) > 1 else []:
        is_bad = row["value"] is not None and row["value"] < TENTATIVE
        if is_bad and row["units"] >= FEWEST_IN_SEGMENT and (row["high"] or 0) < RELY:
            name = name_segment(row["name"])
            yield f"{name} (alpha {row['value']:.2f}, {row['units']:,} pairs with 2+ labels)"


def name_segment(name: str) -> str:
    return f"segment “{name}”" if name else "queries without a segment"


def pairs_wanted(found: Figures, fewest: int) -> int:
    """How many more pairs with two labels would tell whether labels can be relied on; 0: none.

    So many that there are `fewest`. Where the interval reaches across the bound for tentative
    conclusions, so many that it is WIDE at most: it narrows with the root of the pairs.
    """
    wanted, units = fewest, int(found["units"])
    if found["low"] is not None and found["low"] < TENTATIVE <= found["high"]:
        wanted = max(fewest, ceil(units * ((found["high"] - found["low"]) / WIDE) ** 2))
    return max(0, wanted - units)


def _about_overlap(figures: Figures, found: Figures) -> Iterator[Advice]:
    """Where too few pairs have two labels: all over, or else in some segments."""
    if pairs_wanted(found, FEWEST_PAIRS):
        is_thin = found["units"] < FEWEST_PAIRS
        why = "agreement can’t be measured without overlap" if is_thin else _unsure(found)
        yield Advice("overlap", f"Request second labels for more pairs: {why}.")
        return
    rows = figures["segments"] if len(figures["segments"]) > 1 else []
    thin = [row for row in rows if _has_one_label(row) and pairs_wanted(row, FEWEST_IN_SEGMENT)]
    for row in thin[:MOST_NAMED]:
        pairs = name_segment(row["name"])
        yield Advice(
            "segment", f"Request second labels for pairs of {pairs}: {_unsure(row)}.", row["name"]
        )


def _has_one_label(row: Figures) -> bool:
    return any(sum(given) == 1 for _, *given in row["sets"])


def _unsure(found: Figures) -> str:
    if found["low"] is None or found["units"] < FEWEST_IN_SEGMENT:
        return (
            f"only {found['units']:,} have two labels"
            if found["units"]
            else "none has two labels yet"
        )
    return f"alpha could be anywhere from {found['low']:.2f} to {found['high']:.2f}"


def _grounds(figures: Figures, situation: Situation) -> Iterator[str]:
    overall = figures["overall"]
    found, exact = overall["alpha"][LEVEL], overall["percent_exact"]["value"]
    within = overall["percent_within_1"]["value"]
    if found["value"] is not None:
        interval = ""
        if found["low"] is not None:
            low, high = found["low"], found["high"]
            interval = f", between {low:.2f} and {high:.2f} in {percent(0.95)} of resamples"
        yield (
            f"Krippendorff’s alpha ({LEVEL}) is {found['value']:.2f}{interval}, "
            f"from {found['units']:,} pairs with two labels or more."
        )
    else:
        yield (
            f"{found['units']:,} of {figures['pairs']:,} labelled pairs have two labels or more."
        )
    if exact is not None and within is not None:
        yield (
            f"Two people give a pair the same grade in {percent(exact)} of cases, "
            f"and at most one grade apart in {percent(within)}."
        )
    yield from _about_accuracy(figures)
    told = figures.get("resolution")
    if told:
        yield (
            f"Label errors change the difference between two of the {told['runs']} rankers by at "
            f"most {told['apart']:.2g} in {told['measure']}, in {percent(0.95)} of simulations."
        )
    decided = figures["decided"]
    if decided["outside"]:
        outside = decided["outside"] / decided["pairs"]
        yield (
            f"{percent(outside)} of {decided['pairs']:,} adjudicated pairs got a grade above or "
            "below all of their labels."
        )
    yield from _named(figures, situation)
    yield from _changed(figures)


def _about_accuracy(figures: Figures) -> Iterator[str]:
    """How often grades are right: by the model, where pairs were checked, and so in all."""
    confidence, accuracy = percent(figures["model"]["confidence"]), figures["accuracy"]
    gold, adjudicated, calibrated = (accuracy[k] for k in ("gold", "adjudicated", "calibrated"))
    if figures["overall"]["alpha"][LEVEL]["units"]:
        yield (
            "Model confidence: the model (Dawid and Skene) expects a pair’s most probable grade to "
            f"be right in {confidence} of the pairs. This assumes independent errors."
        )
    if gold["pairs"]:
        yield (
            f"On {gold['pairs']:,} gold pairs, with as many labels as other pairs have, the most "
            f"probable grade is right in {_with_interval(gold)}; the model expects "
            f"{percent(gold['confidence'])}."
        )
    if adjudicated["pairs"]:
        yield (
            f"On {adjudicated['pairs']:,} adjudicated pairs{_disputed(figures)} the most probable "
            f"grade is right in {_with_interval(adjudicated)}; the model expects "
            f"{percent(adjudicated['confidence'])}."
        )
    if calibrated:
        source = "gold pairs" if calibrated["source"] == "gold" else "adjudicated pairs"
        disputed = "" if calibrated["source"] == "gold" else _disputed(figures)
        yield (
            f"Calibrated on {calibrated['pairs']:,} {source}{disputed}: "
            f"{_with_interval(calibrated)} of all grades are right."
        )
    else:
        yield (
            f"The verdict rests on agreement alone: fewer than {FEWEST_CALIBRATED} gold pairs, and "
            f"fewer than {FEWEST_CALIBRATED} adjudicated pairs, show how often grades are right."
        )


def _disputed(figures: Figures) -> str:
    """What to say of adjudicated pairs, unless most pairs are: then they are like the others."""
    is_selected = figures["accuracy"]["adjudicated"]["pairs"] < figures["pairs"] / 2
    return " (disputed ones, so that this is rather too low)" if is_selected else ""


def _with_interval(share: Figures) -> str:
    return f"{percent(share['value'])} ({percent(share['low'])} to {percent(share['high'])})"


def _named(figures: Figures, situation: Situation) -> Iterator[str]:
    for name, row in zip(situation.names, figures["annotators"], strict=True):
        for finding in row["findings"]:
            yield f"{name} {describe(finding, situation.grades, row['drift_of'])}."


def _changed(figures: Figures) -> Iterator[str]:
    change = figures["drift"]
    if change is None or change["chance"] > 0.01:
        return
    more = "more" if change["after"] > change["before"] else "less"
    near = f" ({change['near'][0]['text']})" if change["near"] else ""
    where = f" in “{change['where']}”" if change.get("where") else ""
    yield (
        f"People began to differ {more} at one point{where}{near}: from {change['before']:.2f} "
        f"to {change['after']:.2f} steps apart on average."
    )


def _advice(figures: Figures, situation: Situation, found: Figures) -> Iterator[Advice]:
    """The most useful first."""
    yield from _about_overlap(figures, found)
    for place, row in enumerate(figures["annotators"]):
        if row["findings"]:
            yield _about_person(row, place, situation)
    if situation.tied:
        yield Advice("decide", f"Decide the {situation.tied:,} pairs that no grade leads.")
    if situation.differing > situation.tied:
        yield Advice("differ", f"Look at the {situation.differing:,} pairs where people differ.")
    yield from _about_grades(figures, situation)
    unchecked = [row for row in figures["annotators"] if row["gold"]["checked"] < CHECKS_WANTED]
    if unchecked and situation.is_open:
        text = (
            f"Plant more gold: {len(unchecked)} of {len(figures['annotators'])} people have had "
            f"fewer than {CHECKS_WANTED} checks."
        )
        yield Advice("gold", text)
    if situation.is_open and situation.labels_left:
        yield Advice("label", f"{situation.labels_left:,} labels are still to come.")


def _about_person(row: Figures, place: int, situation: Situation) -> Advice:
    name, about = situation.names[place], str(place)
    kinds = {finding["kind"] for finding in row["findings"]}
    if kinds & {"one_grade", "chance"}:
        words = f"Talk to {name}: these labels tell nothing about the pairs."
        return Advice("person", words, about)
    if "hasty" in kinds:
        return Advice("person", f"Ask {name} to take more time.", about)
    confused = worst_confusion(row["confusion"])
    if confused is None:
        return Advice("person", f"Look at {name}’s labels.", about)
    missed, given = (situation.grades[step] for step in confused)
    words = f"Train {name} on “{missed}”, which is most often called “{given}”."
    return Advice("train", words, about)


def _about_grades(figures: Figures, situation: Situation) -> Iterator[Advice]:
    """The grade that is hardest to tell from another, where that is seen often enough."""
    rows = [
        (row["value"], step, row["instead"])
        for step, row in enumerate(figures["grades"])
        if row["value"] is not None and row["compared"] >= FEWEST_PAIRS
        if row["instead"] is not None and row["value"] < 0.5
    ]
    if rows:
        _, step, instead = min(rows)
        text = (
            f"Say in the guideline what parts “{situation.grades[step]}” from "
            f"“{situation.grades[instead]}”: they are taken for each other most."
        )
        yield Advice("guideline", text)
