"""How often canaries alert: months of snapshots, quiet ones and ones with a planted change.

    python -m benchmarks.canaries [--months 1000] [--seed 1]

A month is 180 snapshots, one every four hours, of 50 canary queries, with three measures as the
boards. Between two snapshots a tenth of the queries gets another state of the index: nothing, one
more document (judged as irrelevant, or judged by no one), or one less. In a third of the queries
two neighbours are tied, and every snapshot orders them again. The baseline is such a snapshot too.
All values are the library's of these rankings; findings and incidents are those of
`touchstone.statistics.monitoring`.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.measures.engine import evaluate_batch
from touchstone.measures.grades import Grades
from touchstone.measures.grammar import parse_measure
from touchstone.measures.rankings import GradedRankings
from touchstone.statistics.monitoring import (
    CLEAR,
    Event,
    Finding,
    Watch,
    advance,
    detection_chance,
)
from touchstone.statistics.non_inferiority import LEVEL, student_interval

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int8]
Ints = npt.NDArray[np.int64]

LOOKS: Final = 180
QUERIES: Final = 50
DEPTH: Final = 10
SPARE: Final = 3  # documents after the first ten, for those that leave
WIDEST: Final = DEPTH + SPARE + 3
BOARDS: Final = ("nDCG@10", "RR@10", "P@10")
MARGIN: Final = 0.02
COVERAGE_MARGIN: Final = 0.1
IN_A_ROW: Final = 2
TOP: Final = 3  # where the canary document of a query must be
MOST_BELOW: Final = 0.6  # of a query's value, below the baseline's
BELOW_MEAN: Final = 0.08  # of the threshold, below the usual mean
CHURN: Final = 0.1  # share of the queries with another state of the index, each snapshot
TIED: Final = 1 / 3
LATENCY, LATENCY_SPREAD, LATENCY_LIMIT = 0.2, 0.15, 0.5  # seconds; of their logarithm; seconds
SPIKES: Final = 0.02  # share of snapshots that take four times as long
PLANTED: Final = 60  # the first snapshot with a planted change
SOON: Final = 20  # snapshots
GRADES: Final = Grades.of({code: float(code) for code in range(5)})
KINDS: Final = ("quality", "board", "threshold", "rules", "coverage", "latency")
BY_CODE: Final = {1: Finding.BAD, 0: Finding.UNCLEAR, -1: Finding.GOOD}
UNJUDGED, IRRELEVANT = 0, 1  # levels
NOTHING, ADDED, REMOVED = "nothing", "added", "removed"


@dataclass(frozen=True)
class Tables:
    """What each query's ranking says in each state of the index, for both orders of its tie.

    values, alone: (queries, states, measures), alone without unjudged documents; judged: the share
    of the first ten; rank: of the canary document.
    """

    values: Floats
    alone: Floats
    judged: Floats
    rank: Ints


@dataclass(frozen=True)
class Change:
    """What is planted. regressed: the chance of a query, in each month, that it returns its first
    ten documents worst first; buried: how many unjudged documents are put first, in all queries;
    lost: whether the first query returns its canary document last of ten; slower: how many times.
    """

    name: str
    regressed: float = 0.0
    buried: int = 0
    lost: bool = False
    slower: float = 1.0


@dataclass(frozen=True)
class Outcome:
    """opened: the snapshots at which incidents open, by kind, for each month. bad: the share of bad
    snapshots after the change. drop: of the mean of the first board. chance: that theory gives a
    snapshot to be bad, for quality.
    """

    change: Change
    opened: Mapping[str, list[list[int]]]
    bad: Mapping[str, float]
    drop: float
    chance: float

    def per_month(self, kind: str) -> float:
        """Incidents that open, on average."""
        return float(np.mean([len(month) for month in self.opened[kind]]))

    def delays(self, kind: str) -> Floats:
        """Snapshots from the change to the incident, each month; infinite where none opens."""
        return np.array(
            [
                min((look - PLANTED for look in month if look >= PLANTED), default=np.inf)
                for month in self.opened[kind]
            ]
        )

    def found(self, kind: str) -> float:
        """The share of the months in which an incident opens soon after the change."""
        return float((self.delays(kind) < SOON).mean())


CHANGES: Final = (
    Change("none"),
    Change("a fall of 0.03", regressed=0.16),
    Change("a fall of 0.05", regressed=0.27),
    Change("a fall of 0.08", regressed=0.43),
    Change("a fall of 0.12", regressed=0.65),
    Change("unjudged documents first", buried=2),
    Change("a canary document lost", lost=True),
    Change("slow", slower=4.0),
)


def states() -> list[tuple[str, int, int]]:
    """What can have happened to a ranking: (what, rank, level). The first rank stays."""
    added = [(ADDED, rank, level) for level in (UNJUDGED, IRRELEVANT) for rank in range(1, DEPTH)]
    return [(NOTHING, 0, 0), *added, *[(REMOVED, rank, 0) for rank in range(1, DEPTH)]]


def make_rankings(rng: np.random.Generator) -> tuple[npt.NDArray[np.uint8], Ints, Ints]:
    """levels (queries, DEPTH + SPARE), the first document relevant; how many documents are judged
    at each level; the rank of the upper of two tied documents, -1 where there are none.
    """
    fall = np.linspace(4.0, 0.5, DEPTH + SPARE)
    drawn = np.clip(np.rint(rng.normal(fall, 1.3, (QUERIES, DEPTH + SPARE))), 0, 4)
    drawn[:, 0] = np.maximum(drawn[:, 0], 2)
    levels = (drawn + 1).astype(np.uint8)
    levels[rng.random(levels.shape) < 0.05] = UNJUDGED
    levels[:, 0] = np.maximum(levels[:, 0], 3)
    judged = np.stack([(levels == level).sum(1) for level in range(1, 6)], axis=1)
    judged[:, 3] += 1  # a relevant document that is not returned
    tied = rng.random(QUERIES) < TIED
    return levels, judged, np.where(tied, rng.integers(1, DEPTH - 1, QUERIES), -1)


def make_tables(levels: npt.NDArray[np.uint8], judged: Ints, tied: Ints, change: Change) -> Tables:
    """The library's values of every query in every state, after a change of all queries."""
    rankings = [
        _ranking(ranking, state, tie if flips else -1, change, is_first=query == 0)
        for query, (ranking, tie) in enumerate(zip(levels, tied.tolist(), strict=True))
        for state in states()
        for flips in (False, True)
    ]
    graded = GradedRankings(
        np.array([[*row, *[UNJUDGED] * (WIDEST - len(row))] for row, _ in rankings], np.uint8),
        np.array([len(row) for row, _ in rankings]),
        np.repeat(judged, len(rankings) // QUERIES, axis=0).astype(np.int64),
    )

    def evaluated(*names: str) -> Floats:
        found = evaluate_batch([parse_measure(name) for name in names], graded, GRADES)
        return found.values.reshape(QUERIES, -1, len(names))

    return Tables(
        values=evaluated(*BOARDS),
        alone=evaluated(*(name.replace("@", "(unjudged='condensed')@") for name in BOARDS)),
        judged=evaluated("Judged@10")[..., 0],
        rank=np.array([rank for _, rank in rankings]).reshape(QUERIES, -1),
    )


def _ranking(
    levels: npt.NDArray[np.uint8],
    state: tuple[str, int, int],
    tie: int,
    change: Change,
    *,
    is_first: bool,
) -> tuple[list[int], int]:
    """A ranking's levels, and the rank of its canary document. tie: where two change places."""
    what, rank, level = state
    own = [(one, int(of_one)) for one, of_one in enumerate(levels)]
    if change.regressed:
        own[:DEPTH] = own[:DEPTH][::-1]
    if change.lost and is_first:
        own.insert(DEPTH - 1, own.pop(0))
    if tie >= 0:
        own[tie], own[tie + 1] = own[tie + 1], own[tie]
    if what == ADDED:
        own.insert(rank, (-1, level))
    elif what == REMOVED and own[rank][0]:
        del own[rank]
    own = [(-1, UNJUDGED)] * change.buried + own
    return [of_one for _, of_one in own], 1 + [one for one, _ in own].index(0)


def simulate(change: Change, *, months: int, seed: int) -> Outcome:
    """Months with a change from the snapshot PLANTED on."""
    rng = np.random.default_rng([seed, 0])
    made = make_rankings(rng)
    usual, changed = make_tables(*made, Change("none")), make_tables(*made, change)
    rng = np.random.default_rng([seed, 1])
    floor = float(_expected(usual.values)[..., 0].mean()) - BELOW_MEAN
    found = {kind: np.zeros((months, LOOKS), np.int8) for kind in KINDS}
    base_at, index = _flipped(rng, _drawn(rng, months)), _drawn(rng, months)
    base, base_alone, base_judged, _ = _gather(usual, base_at)
    is_hit = np.ones(index.shape, bool)
    if change.regressed:
        is_hit = rng.random(index.shape) < change.regressed
    for look in range(LOOKS):
        fresh = rng.random(index.shape) < CHURN
        index = np.where(fresh, _drawn(rng, months), index)
        is_changed, at = look >= PLANTED, _flipped(rng, index)
        now = _gather(usual, at)
        if is_changed:
            now = _where(is_hit, _gather(changed, at), now)
        seconds = LATENCY * np.exp(rng.normal(0, LATENCY_SPREAD, months))
        seconds *= np.where(rng.random(months) < SPIKES, 4.0, 1.0)
        seconds *= change.slower if is_changed else 1.0
        findings = look_at(now, (base, base_alone, base_judged), floor=floor)
        findings["latency"] = _limit(seconds, limit=LATENCY_LIMIT, clear=0.9 * LATENCY_LIMIT)
        for kind, codes in findings.items():
            found[kind][:, look] = codes
    drop, chance = _theory(usual, changed, change)
    return Outcome(
        change=change,
        opened={kind: [opened_at(month) for month in codes] for kind, codes in found.items()},
        bad={kind: float((codes[:, PLANTED:] == 1).mean()) for kind, codes in found.items()},
        drop=drop,
        chance=chance,
    )


def look_at(
    now: tuple[Floats, Floats, Floats, Ints],
    base: tuple[Floats, Floats, Floats],
    *,
    floor: float,
) -> dict[str, Codes]:
    """What one snapshot of each month says, by kind: 1 bad, 0 unclear, -1 good.

    now: values and values without unjudged documents (months, queries, measures), shares of judged
    documents and ranks of the canary documents (months, queries). base: the same of the baseline,
    without ranks.
    """
    values, alone, judged, rank = now
    coverage = _limit(
        base[2].mean(1) - judged.mean(1), limit=COVERAGE_MARGIN, clear=CLEAR * COVERAGE_MARGIN
    )
    differences, apart = values - base[0], alone - base[1]
    boards = [
        falls(differences[..., one], apart[..., one], level=1 - (1 - LEVEL) / len(BOARDS))
        for one in range(len(BOARDS))
    ]
    threshold = _limit(-values[..., 0].mean(1), limit=-floor, clear=-floor - CLEAR * MARGIN)
    is_explained = (threshold == 1) & (coverage == 1) & (alone[..., 0].mean(1) >= floor)
    # half of the rules are about documents, half about values
    documents, rest = rank[:, ::2] > TOP, slice(1, None, 2)
    fell = differences[:, rest, 0] < -MOST_BELOW
    unjudged = (judged[:, rest] < base[2][:, rest]) & (apart[:, rest, 0] >= -MOST_BELOW)
    is_broken = documents.any(1) | (fell & ~unjudged).any(1)
    return {
        "quality": falls(differences[..., 0], apart[..., 0], level=LEVEL),
        "board": np.max(boards, axis=0).astype(np.int8),
        "threshold": np.where(is_explained, 0, threshold).astype(np.int8),
        "rules": np.where(is_broken, 1, -1).astype(np.int8),
        "coverage": coverage,
    }


def falls(differences: Floats, alone: Floats, *, level: float) -> Codes:
    """As `judge_quality` finds it, for each row. differences, alone: (months, queries)."""
    high, high_alone = (student_interval(one, level=level)[1] for one in (differences, alone))
    is_bad = (high < -MARGIN) & (high_alone < -MARGIN)
    is_good = differences.mean(-1) >= -CLEAR * MARGIN
    return np.where(is_bad, 1, np.where(is_good, -1, 0)).astype(np.int8)


def opened_at(codes: Codes) -> list[int]:
    """The snapshots at which incidents open."""
    watch, opened = Watch(), []
    for look, code in enumerate(codes.tolist()):
        watch, event = advance(watch, BY_CODE[code], in_a_row=IN_A_ROW)
        if event is Event.OPENED:
            opened.append(look)
    return opened


def expected_delay(chance: float) -> float:
    """Snapshots until so many in a row are bad, counted from 0, where looks are independent."""
    if not 0 < chance < 1:
        return IN_A_ROW - 1.0 if chance else float("inf")
    return (1 - chance**IN_A_ROW) / ((1 - chance) * chance**IN_A_ROW) - 1


def rows_of(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The results as two Markdown tables."""
    yield f"| planted | {' | '.join(KINDS)} |"
    yield "|---|" + "---:|" * len(KINDS)
    for one in outcomes:
        yield f"| {one.change.name} | {' | '.join(_cell(one, kind) for kind in KINDS)} |"
    yield ""
    yield "| planted | fall of nDCG@10 | bad snapshots | theory | found | delay | theory |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for one in outcomes:
        if one.change.regressed:
            yield (
                f"| {one.change.name} | {one.drop:.3f} | {one.bad['quality']:.1%} "
                f"| {one.chance:.1%} | {one.found('quality'):.0%} | {_delay(one, 'quality')} "
                f"| {expected_delay(one.chance):.1f} |"
            )


def _cell(outcome: Outcome, kind: str) -> str:
    """Incidents per month where nothing is planted; else how often it was found, and when."""
    if outcome.change == CHANGES[0]:
        return f"{outcome.per_month(kind):.3f}"
    if outcome.found(kind) < 0.005:
        return "–"
    return f"{outcome.found(kind):.0%}, {_delay(outcome, kind)}"


def _delay(outcome: Outcome, kind: str) -> str:
    delays = outcome.delays(kind)
    soon = delays[delays < SOON]
    return f"{soon.mean():.1f}" if len(soon) else "–"


def _drawn(rng: np.random.Generator, months: int) -> Ints:
    """A state of the index for each query: nothing, or something at any rank alike."""
    some = rng.integers(1, len(states()), (months, QUERIES))
    return np.where(rng.random((months, QUERIES)) < 0.4, 0, some)


def _flipped(rng: np.random.Generator, index: Ints) -> Ints:
    """States as columns of a table, with ties in either order."""
    return 2 * index + rng.integers(0, 2, index.shape)


def _gather(tables: Tables, at: Ints) -> tuple[Floats, Floats, Floats, Ints]:
    query = np.arange(QUERIES)
    return (
        tables.values[query, at],
        tables.alone[query, at],
        tables.judged[query, at],
        tables.rank[query, at],
    )


def _where(
    is_hit: npt.NDArray[np.bool_],
    changed: tuple[Floats, Floats, Floats, Ints],
    usual: tuple[Floats, Floats, Floats, Ints],
) -> tuple[Floats, Floats, Floats, Ints]:
    """The changed values of those queries that the change hits."""
    each = is_hit[..., None]
    return (
        np.where(each, changed[0], usual[0]),
        np.where(each, changed[1], usual[1]),
        np.where(is_hit, changed[2], usual[2]),
        np.where(is_hit, changed[3], usual[3]),
    )


def _expected(values: Floats) -> Floats:
    """The mean over the states of the index, of (queries, states, measures)."""
    others = len(states()) - 1
    weights = np.repeat([0.4, *[0.6 / others] * others], 2) / 2
    return np.asarray(np.tensordot(values, weights, axes=([1], [0])), np.float64)


def _theory(usual: Tables, changed: Tables, change: Change) -> tuple[float, float]:
    """The fall of the first board's mean, and the chance of one bad snapshot: by the mean and the
    spread of a query's difference, as if queries were drawn for each month.

    A bad snapshot fell without unjudged documents too: the smaller of the two chances.
    """
    drop, spread = _difference(usual.values, changed.values, change)
    alone = _difference(usual.alone, changed.alone, change)
    return drop, min(
        detection_chance(drop=one, margin=MARGIN, spread=of_one, n=QUERIES)
        for one, of_one in ((drop, spread), alone)
    )


def _difference(usual: Floats, changed: Floats, change: Change) -> tuple[float, float]:
    """The mean fall of the first board, and the standard deviation between queries."""
    before, after = (_expected(one)[:, 0] for one in (usual, changed))
    noise = [_expected(usual**2)[:, 0] - before**2, _expected(changed**2)[:, 0] - after**2]
    share, shift = change.regressed or 1.0, after - before
    drop = -float(share * shift.mean())
    variance = (
        float(np.mean(noise[0] + share * (noise[1] + shift**2) + (1 - share) * noise[0])) - drop**2
    )
    return drop, float(np.sqrt(max(variance, 0.0)))


def _limit(values: Floats, *, limit: float, clear: float) -> Codes:
    """As `judge_limit` finds it."""
    return np.where(values > limit, 1, np.where(values <= clear, -1, 0)).astype(np.int8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--months", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    outcomes = [simulate(one, months=options.months, seed=options.seed) for one in CHANGES]
    print("\n".join(rows_of(outcomes)))
    quiet = outcomes[0]
    print(f"\nFalse incidents a quiet month: {sum(map(quiet.per_month, KINDS)):.3f}")


if __name__ == "__main__":
    main()
