"""What the figures of a campaign come to: a verdict in words, its grounds, and what to do next.

The bounds for alpha are Krippendorff's: 0.800 to rely on labels, 0.667 for tentative conclusions
(Content Analysis, 2nd ed. 2004, p. 241). They are asked of the lower end of the interval first,
because that is what can be relied on. Agreement is not being right: where enough pairs were
checked, the share of grades that are right, calibrated by them, limits the verdict.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
MOST_FINDINGS: Final = 5  # people whose findings are grounds of the verdict
RIGHT_IN: Final = {"right": "right by the others’ labels", "gold": "right on gold"}
NEGLIGIBLE: Final = 0.0005  # change of a mean, which is shown as 0.000
CHECKS_WANTED: Final = 20  # gold checks of a person, before their accuracy says much
Figures = Mapping[str, Any]


@dataclass(frozen=True)
class Advice:
    """Something to do next. about: what it is about: a segment's name, one person's place.

    people: user names of those whom it is about. labels: how many labels it concerns, roughly.
    Where it was computed what the board would be without the labels of the person of them who
    changes it most: harmful, their name; shift, the largest change of a run's mean of `measure`;
    moved, how many of the runs change places.
    """

    act: Act
    text: str
    about: str = ""
    people: tuple[str, ...] = ()
    labels: int = 0
    harmful: str = ""
    measure: str = ""
    shift: float = 0.0
    moved: int = 0

    @property
    def harm(self) -> str:
        """What it does to the board, in words; empty where that is not known."""
        if not self.measure:
            return ""
        if not self.moved and self.shift < NEGLIGIBLE:
            return f"Without {self.harmful}’s labels the leaderboard stays as it is."
        order = "no run changes places"
        if self.moved:
            order = f"{self.moved:,} runs change places"
        change = f"{self.measure} changes by up to {self.shift:.3f}"
        return f"Without {self.harmful}’s labels {change}, and {order}."


@dataclass(frozen=True)
class Verdict:
    """tone: how it is coloured. grounds: sentences that say what it rests on.

    advice: first what can't be measured yet, then what does the most harm.
    """

    tone: Tone
    text: str
    grounds: tuple[str, ...]
    advice: tuple[Advice, ...]


@dataclass(frozen=True)
class Situation:
    """What the campaign is like beside its figures.

    tied: pairs that need adjudication. graded: those with a grade although their labels differ.
    names, usernames, reachable: of the annotators, in the figures' order; reachable: who labels
    here, so that they can be told something. grades: names, worst first.
    """

    overlap: int
    is_open: bool
    tied: int
    graded: int
    labels_left: int
    names: tuple[str, ...]
    usernames: tuple[str, ...]
    reachable: tuple[bool, ...]
    grades: tuple[str, ...]


def verdict(figures: Figures, situation: Situation) -> Verdict:
    """Whether these labels are good enough to decide on, why, and what to do next."""
    if not figures.get("labels"):
        advice = [Advice("label", "The report appears after the first labels.")]
        return Verdict("warn", "No labels yet.", (), tuple(advice))
    result = figures["overall"]["alpha"][LEVEL]
    tone, text = _limited(*_judged(result), figures["accuracy"]["calibrated"])
    told = figures.get("resolution")
    if told and tone != "bad" and result["value"] is not None and result["units"] >= FEWEST_PAIRS:
        text = (
            f"{text[:-1]}: differences of {told['apart']:.2g} or more in {told['measure']} "
            "are detectable."
        )
    exceptions = list(_exceptions(figures)) if tone != "bad" and result["value"] is not None else []
    if exceptions:
        tone = "warn"
        text = f"{text[:-1]}; not for {' or '.join(exceptions[:MOST_NAMED])}."
    return Verdict(
        tone,
        text,
        tuple(_grounds(figures, situation)),
        tuple(_advice(figures, situation, result)),
    )


def describe(finding: Figures, grades: tuple[str, ...], drift_of: str) -> str:
    """A finding about someone, in words that follow their name.

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
            f"changed on {since}: {RIGHT_IN[drift_of]} in {percent(before)} before, "
            f"{percent(after)} since"
        )
    return (
        f"changed on {since}: {signed(before, 1)} steps from the others before, "
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
    """When something about someone changed, from what to what, and what happened then."""
    day = datetime.fromtimestamp(change["at"], UTC).date().isoformat()
    written = COURSES[what][1]
    near = "; ".join(event["text"] for event in change["near"])
    then = f" Around that time: {near}." if near else ""
    before, after = written(change["before"]), written(change["after"])
    return f"Changed on {day}: {before} before, {after} since.{then}"


def worst_confusion(confusion: list[list[int]]) -> tuple[int, int] | None:
    """The grade that someone most often misses, and what they say instead; None without one."""
    result = [
        (count, step, given)
        for step, row in enumerate(confusion)
        for given, count in enumerate(row)
        if step != given and count
    ]
    if not result:
        return None
    _, step, given = max(result, key=lambda one: (one[0], -one[1], -one[2]))
    return step, given


def _judged(found: Figures) -> tuple[Tone, str]:
    if found["why"] == "no_overlap":
        return "warn", "Not enough overlap to say whether these labels can be trusted."
    if found["why"] == "no_variation":
        return "warn", "All labels have the same grade, so agreement can’t be measured."
    if found["units"] < FEWEST_PAIRS:
        return "warn", f"Too early to say: only {found['units']} pairs have 2+ labels."
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
        words = f"Request second labels for more pairs: {why}."
        yield Advice("overlap", words, labels=figures["labels"])
        return
    rows = figures["segments"] if len(figures["segments"]) > 1 else []
    thin = [row for row in rows if _has_one_label(row) and pairs_wanted(row, FEWEST_IN_SEGMENT)]
    for row in thin[:MOST_NAMED]:
        pairs = name_segment(row["name"])
        yield Advice(
            "segment",
            f"Request second labels for pairs of {pairs}: {_unsure(row)}.",
            row["name"],
            labels=sum(count * sum(given) for count, *given in row["sets"]),
        )


def _has_one_label(row: Figures) -> bool:
    return any(sum(given) == 1 for _, *given in row["sets"])


def _unsure(found: Figures) -> str:
    if found["low"] is None or found["units"] < FEWEST_IN_SEGMENT:
        return (
            f"only {found['units']:,} have 2+ labels"
            if found["units"]
            else "none has 2+ labels yet"
        )
    return f"alpha could be anywhere from {found['low']:.2f} to {found['high']:.2f}"


def _grounds(figures: Figures, situation: Situation) -> Iterator[str]:
    overall = figures["overall"]
    result, exact = overall["alpha"][LEVEL], overall["percent_exact"]["value"]
    within = overall["percent_within_1"]["value"]
    if result["value"] is not None:
        interval = ""
        if result["low"] is not None:
            low, high = result["low"], result["high"]
            interval = f", between {low:.2f} and {high:.2f} in {percent(0.95)} of resamples"
        yield (
            f"Krippendorff’s alpha ({LEVEL}) is {result['value']:.2f}{interval}, "
            f"from {result['units']:,} pairs with 2+ labels."
        )
    else:
        yield (f"{result['units']:,} of {figures['pairs']:,} labelled pairs have 2+ labels.")
    if exact is not None and within is not None:
        yield (
            f"Two annotators agree exactly in {percent(exact)} of cases, and within one grade in "
            f"{percent(within)}."
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
            "Model confidence: the Dawid-Skene model expects the most probable grade to be right "
            f"in {confidence} of the pairs. This assumes independent errors."
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
            f"The verdict is based on agreement alone: there are fewer than {FEWEST_CALIBRATED} "
            f"gold pairs and fewer than {FEWEST_CALIBRATED} adjudicated pairs to check grades by."
        )


def _disputed(figures: Figures) -> str:
    """What to say of adjudicated pairs, unless most pairs are: then they are like the others."""
    is_selected = figures["accuracy"]["adjudicated"]["pairs"] < figures["pairs"] / 2
    return " (disputed ones, so this is an underestimate)" if is_selected else ""


def _with_interval(share: Figures) -> str:
    return f"{percent(share['value'])} ({percent(share['low'])} to {percent(share['high'])})"


def _named(figures: Figures, situation: Situation) -> Iterator[str]:
    """Those with the most labels first; of very many, only that there are more."""
    result = list_found(figures)
    for place in result[:MOST_FINDINGS]:
        name, row = situation.names[place], figures["annotators"][place]
        for finding in row["findings"]:
            yield f"{name} {describe(finding, situation.grades, row['drift_of'])}."
    rest = result[MOST_FINDINGS:]
    if rest:
        labels = sum(figures["annotators"][place]["labels"] for place in rest)
        yield (
            f"{len(rest):,} more {'person needs' if len(rest) == 1 else 'people need'} review, "
            f"with {labels:,} label{'' if labels == 1 else 's'}."
        )


def list_found(figures: Figures) -> list[int]:
    """The places of people with findings, those with the most labels first."""
    rows = figures["annotators"]
    result = [place for place, row in enumerate(rows) if row["findings"]]
    return sorted(result, key=lambda place: (-rows[place]["labels"], place))


def _changed(figures: Figures) -> Iterator[str]:
    change = figures["drift"]
    if change is None or change["chance"] > 0.01:
        return
    rose = "increased" if change["after"] > change["before"] else "decreased"
    near = f" ({change['near'][0]['text']})" if change["near"] else ""
    where = f" in “{change['where']}”" if change.get("where") else ""
    yield (
        f"Disagreement {rose} at one point{where}{near}: from {change['before']:.2f} to "
        f"{change['after']:.2f} steps on average."
    )


def _advice(figures: Figures, situation: Situation, found: Figures) -> Iterator[Advice]:
    """First what keeps agreement from being measured, then what does the most harm: to the order of
    the runs, to their means, or else to the most labels."""
    yield from _about_overlap(figures, found)
    of_pair = figures["labels"] / max(1, figures["pairs"])
    harmful = [*_about_people(figures, situation), *_about_grades(figures, situation)]
    if situation.tied:
        words = f"Adjudicate {_pairs(situation.tied, 'tied ')}."
        harmful.append(Advice("decide", words, labels=round(situation.tied * of_pair)))
    yield from sorted(harmful, key=lambda one: (-one.moved, -round(one.shift, 3), -one.labels))
    if situation.graded:
        words = f"Review {_pairs(situation.graded)} graded by the rule although the labels differ."
        yield Advice("differ", words, labels=round(situation.graded * of_pair))
    unchecked = [row for row in figures["annotators"] if row["gold"]["checked"] < CHECKS_WANTED]
    if unchecked and situation.is_open:
        text = (
            f"Plant more gold: {len(unchecked):,} of {len(figures['annotators']):,} annotators "
            f"have had fewer than {CHECKS_WANTED} checks."
        )
        yield Advice("gold", text, labels=sum(row["labels"] for row in unchecked))
    if situation.is_open and situation.labels_left:
        left = situation.labels_left
        words = "1 label is pending." if left == 1 else f"{left:,} labels are pending."
        yield Advice("label", words, labels=situation.labels_left)


def _pairs(count: int, kind: str = "") -> str:
    return f"1 {kind}pair" if count == 1 else f"{count:,} {kind}pairs"


def _about_people(figures: Figures, situation: Situation) -> Iterator[Advice]:
    """One thing to do for all whom it is to be done about: told to those who can be told."""
    alike: dict[str, list[int]] = defaultdict(list)
    for place in list_found(figures):
        can = _remedy(figures["annotators"][place])
        is_told = situation.reachable[place]
        alike[can if is_told else "uninformative" if can == "talk" else "check"].append(place)
    for what, places in alike.items():
        yield _about_some(what, places, figures, situation)


def _remedy(row: Figures) -> str:
    """What to do about a person with findings."""
    kinds = {finding["kind"] for finding in row["findings"]}
    if kinds & {"one_grade", "chance"}:
        return "talk"
    if "hasty" in kinds:
        return "slow"
    return "look" if worst_confusion(row["confusion"]) is None else "train"


def _about_some(what: str, places: Sequence[int], figures: Figures, situation: Situation) -> Advice:
    names = join_names([situation.names[place] for place in places])
    rows = [figures["annotators"][place] for place in places]
    labels = sum(row["labels"] for row in rows)
    words = {
        "talk": f"Talk to {names}: these labels carry no information.",
        "slow": f"Ask {names} to take more time.",
        "look": f"Review the labels of {names}.",
        "train": f"Train {names} on the grades they miss.",
        "uninformative": f"Set aside the labels of {names}: they carry no information.",
        "check": f"Check the labels of {names}, and set them aside if they are wrong.",
    }[what]
    confused = worst_confusion(rows[0]["confusion"])
    if what == "train" and len(places) == 1 and confused is not None:
        missed, given = (situation.grades[step] for step in confused)
        words = f"Train {names} on “{missed}”, most often labelled “{given}”."
    about = str(places[0]) if len(places) == 1 else ""
    people = tuple(situation.usernames[place] for place in places)
    harm = figures.get("harm", {})
    known = figures["people"] if harm else ()
    told = [(harm[pk], place) for place in places if harm and (pk := str(known[place])) in harm]
    advice = Advice("train" if what == "train" else "person", words, about, people, labels)
    if not told:
        return advice
    most, place = max(told, key=lambda one: (one[0]["moved"], one[0]["shift"]))
    return replace(
        advice,
        harmful=situation.names[place],
        measure=most["measure"],
        shift=most["shift"],
        moved=most["moved"],
    )


def join_names(names: Sequence[str]) -> str:
    """Some names as words: “A”, “A and B”, “A, B, C and 7 more”."""
    shown = list(names[:MOST_NAMED])
    if len(names) > MOST_NAMED:
        shown.append(f"{len(names) - MOST_NAMED:,} more")
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def _about_grades(figures: Figures, situation: Situation) -> Iterator[Advice]:
    """The grade that is hardest to tell from another, where that is seen often enough."""
    rows = [
        (row["value"], step, row["instead"])
        for step, row in enumerate(figures["grades"])
        if row["value"] is not None and row["compared"] >= FEWEST_PAIRS
        if row["instead"] is not None and row["value"] < 0.5
    ]
    if rows:
        value, step, instead = min(rows)
        wrong = round(figures["grades"][step]["compared"] * (1 - value))
        text = (
            f"Clarify “{situation.grades[step]}” versus “{situation.grades[instead]}” in the "
            "guideline: they are confused most often."
        )
        yield Advice("guideline", text, labels=wrong)
