"""What an adversary does with an account, and what each of the strategies makes of it.

A session drives one account through a campaign. It gives, for each strategy that it serves, a
vector of numbers for every pair: all that this strategy goes by. Numbers that were not observed
are NaN. A session serves several strategies where their requests are the same.
"""

import random
import uuid
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

from tests.leaks.accounts import Account, Answer, make_label, size
from tests.leaks.worlds import World

Features = tuple[float, ...]
MOST = 60
GROWING = 6  # counts that are tried one after the other, without a release
SAMPLED = 2.0  # pairs that are labelled for each gold pair that is, on average


@dataclass
class Findings:
    """What a session came to. features: by strategy and pair. sampled: for how many pairs one of
    those stands that were drawn to be labelled."""

    features: dict[str, dict[str, Features]] = field(default_factory=lambda: defaultdict(dict))
    sampled: dict[str, float] = field(default_factory=dict)

    def add(self, strategy: str, pair: str, *numbers: float) -> None:
        """What was seen of a pair; the first time counts, where it was offered again later."""
        self.features[strategy].setdefault(pair, tuple(map(float, numbers)))

    def weight(self, strategy: str, pair: str) -> float:
        """For how many pairs one stands; 1 where a strategy looks at all of them."""
        is_sampled = self.features[strategy].keys() <= self.sampled.keys()
        return self.sampled[pair] if is_sampled else 1.0


@dataclass(frozen=True)
class Session:
    """What the adversary works with. effort: how many counts are tried for each lot of pairs; above
    1, others are also watched more often."""

    world: World
    account: Account
    effort: int
    rng: random.Random

    def finish(self, answer: Answer, labelled: Collection[str] = ()) -> None:
        """Label all pairs of an answer, but for those whose names are given."""
        pairs = zip(answer.names, answer.assignments, strict=True)
        assignments = [one for name, one in pairs if name not in labelled]
        are_gold = self.world.are_gold(assignments)
        self.world.settle([one for one in assignments if not are_gold[one]])
        gold = [make_label(self.rng, one) for one in assignments if are_gold[one]]
        if gold:
            self.account.label(gold)
        self.world.let_workers_run()

    def sample(self, answer: Answer, findings: Findings) -> list[str]:
        """The names of the pairs to label: all gold, and of the others as many as are drawn.

        So the test need not label everything; the weights say what it left out. Nothing that the
        adversary goes by depends on it.
        """
        are_gold = self.world.are_gold(answer.assignments)
        share = self.world.plan.percent / 100
        chance = min(1.0, SAMPLED * share / (1 - share))
        chosen = []
        for name, assignment in zip(answer.names, answer.assignments, strict=True):
            if are_gold[assignment] or self.rng.random() < chance:
                chosen.append(name)
                findings.sampled.setdefault(name, 1.0 if are_gold[assignment] else 1 / chance)
        return chosen


def probe(session: Session) -> Findings:
    """Ask with other counts, release all and some, let leases run out; then go on, to the end."""
    account, findings = session.account, Findings()
    queries: set[str] = set()
    while True:
        first = account.next()
        if not first.pairs:
            return findings
        account.release()
        small = [_try(account, count) for count in _counts(session, len(first.pairs))]
        growing = [account.next(count) for count in sorted(_counts(session, MOST)[:GROWING])]
        full = account.next()
        released = set(session.rng.sample(full.names, len(full.names) // 2))
        account.release([account.offered[name] for name in released])
        after = account.next()
        session.world.let_leases_expire()
        last = account.next()
        _by_counts(findings, first, [*small, full, last])
        _by_growth(findings, [*growing, full])
        _by_length(findings, first, small)
        _by_place(findings, first, queries)
        _by_bytes(findings, first, last)
        _by_order(findings, first, [full, after, last])
        _by_release(findings, full, after, released)
        _by_expiry(findings, after, last)
        queries |= {pair["query"]["text"] for pair in first.pairs}
        session.finish(last)
        if not last.pairs:
            return findings


def skip(session: Session) -> Findings:
    """Skip each query of the pairs at hand, then have them all back."""
    account, findings = session.account, Findings()
    while True:
        first = account.next(is_counted=True)
        if not first.pairs:
            return findings
        by_query = _group_by_query(first)
        chosen = sorted(by_query)[: None if session.world.plan.order == "query" else 4]
        skips, answers, left = [], {}, [first.left]
        for query in chosen:
            assignment = account.offered[by_query[query][0]]
            answers[query] = account.skip(assignment)
            skips.append(answers[query].body["id"])
            left.append(answers[query].left)
        for one in skips:
            account.return_skip(one)
        after = account.next()
        for at, query in enumerate(chosen):
            own = by_query[query]
            fewer = left[at] - left[at + 1]
            came = set(after.names)
            for place, name in enumerate(own):
                findings.add(
                    "skip and return",
                    name,
                    first.assignments[first.names.index(name)] in answers[query].body["released"],
                    name in answers[query].names,
                    name in came,
                    fewer - len(own),
                    len(own) - sum(other in came for other in own),
                    after.names.index(name) - first.names.index(name) if name in came else nan,
                    place,
                )
        session.finish(after)


def label(session: Session) -> Findings:
    """Label one pair after the other and hold each answer against the one before."""
    account, findings, rng = session.account, Findings(), session.rng
    while True:
        before = account.next(is_counted=True)
        if not before.pairs:
            return findings
        at_hand = before
        chosen = session.sample(at_hand, findings)
        labels = {}
        for name in chosen:
            labels[name] = make_label(rng, account.offered[name])
            answer = account.label_one(labels[name], held=at_hand.assignments)
            findings.add(
                "progress counts",
                name,
                answer.done - before.done,
                answer.left - before.left,
                len(answer.pairs),
            )
            _by_receipt(findings, "receipts", name, answer.body["labels"][0])
            before = answer
        repeated = account.label(list(labels.values())) if labels else []
        rows = {row["id"]: (place, row) for place, row in enumerate(account.history())}
        rest = account.next()
        done = _done_by_query(rest)
        per_query = Counter(_query_of(at_hand)[name] for name in chosen)
        for place, (name, receipt) in enumerate(zip(chosen, repeated, strict=True)):
            _by_receipt(findings, "receipts of repeated labels", name, receipt)
            at, row = rows.get(labels[name]["id"], (nan, {}))
            query = _query_of(at_hand)[name]
            findings.add(
                "own history",
                name,
                at + place,
                size(row),
                len(row),
                row.get("pair", {}).get("assignment") == account.offered[name],
                row.get("pair", {}).get("name") == name,
            )
            findings.add(
                "labelled in the query",
                name,
                done.get(query, nan) - at_hand.body["done_in_query"][account.offered[name]],
                done.get(query, nan) - per_query[query],
            )
        session.finish(at_hand, labelled=chosen)


def wait(session: Session) -> Findings:
    """Give pairs back, look again while others fill the campaign, then label what was released."""
    account, findings = session.account, Findings()
    shares = (0.25, 0.5, 0.7, 0.8, 0.9) if session.effort > 1 else (0.5, 0.9)
    first = account.next()
    account.release()
    answers = {}
    for share in shares:
        session.world.fill(share)
        answers[share] = account.next()
        account.release()
    for share in (0.5, 0.9):
        _by_waiting(findings, f"waiting until {share:.0%} are filled", first, answers[share])
    _by_polling(findings, first, list(answers.values()))
    _send_late(session, findings, first, answers[0.9])
    return findings


def retract(session: Session) -> Findings:
    """Label, wait until others have filled most, correct, retract, release, and ask again."""
    account, findings, rng = session.account, Findings(), session.rng
    first = account.next()
    chosen = session.sample(first, findings)
    outcomes = {name: rng.choice(("graded", "graded", "unsure", "unjudgeable")) for name in chosen}
    if not chosen:
        return findings
    labels = [make_label(rng, account.offered[name], outcome=outcomes[name]) for name in chosen]
    receipts = account.label(labels)
    account.release()
    session.world.fill(0.9)
    corrections = [
        make_label(rng, before["assignment"], supersedes=before["id"]) for before in labels
    ]
    corrected = account.label(corrections)
    session.world.let_workers_run()
    before = account.next(is_counted=True)
    retracted = account.label(
        [make_label(rng, one["assignment"], outcome="retracted") for one in corrections]
    )
    held = account.next(is_counted=True)
    session.world.let_workers_run()
    account.release()
    again = account.next()
    account.release()
    late = account.label([make_label(rng, one["assignment"]) for one in labels])
    for at, name in enumerate(chosen):
        outcome = ("graded", "unsure", "unjudgeable").index(outcomes[name])
        findings.add(
            "labels without a grade", name, outcome, *_of_receipt(receipts[at]),
            *_of_receipt(corrected[at]),
        )  # fmt: skip
        findings.add("corrections", name, *_of_receipt(corrected[at]), name in before.names)
        findings.add(
            "retracting, then asking again",
            name,
            outcome,
            *_of_receipt(retracted[at]),
            name in held.names,
            name in again.names,
            *_of_receipt(late[at]),
            held.names.index(name) if name in held.names else nan,
            held.done - before.done + len(chosen),
            held.left - before.left,
        )
    return findings


def join_late(session: Session) -> Findings:
    """Come when nine tenths are filled, and label what is left, to the end."""
    account, findings = session.account, Findings()
    session.world.fill(0.9)
    answers = []
    while (answer := account.next()).pairs:
        answers.append(answer)
        session.finish(answer)
    met: Counter[str] = Counter()
    for number, answer in enumerate(answers):
        query_of, places = _query_of(answer), _places(answer)
        last: str | None = None
        for at, name in enumerate(answer.names):
            query = query_of[name]
            place, run = places[name]
            findings.add(
                "joining when 90% are filled",
                name,
                at, place, run, met[query], query == last, number,
                len(answer.pairs) - at, len(answer.pairs) - answer.asked,
                answer.body["done_in_query"][account.offered[name]] - met[query],
            )  # fmt: skip
            last = query
        met.update(query_of.values())
    return findings


def _counts(session: Session, most: int) -> list[int]:
    """Some counts of 1 to 60; where they are few, half of them small, else none above `most`."""
    rng, effort = session.rng, session.effort
    if effort > 4:
        most = min(most, MOST)
        return rng.sample(range(1, most + 1), min(effort, most))
    return [rng.randint(1, rng.choice((4, MOST))) for _ in range(effort)]


def _try(account: Account, count: int) -> Answer:
    answer = account.next(count)
    account.release()
    return answer


def _by_counts(findings: Findings, first: Answer, answers: Sequence[Answer]) -> None:
    """What is in the answer to one count and not in that to a larger one; what is out of place."""
    place = {name: at for at, name in enumerate(first.names)}
    every = sorted([first, *answers], key=lambda answer: answer.asked)
    within = [set(answer.names) for answer in every]
    for name in sorted(set().union(*within)):
        at = place.get(name, nan)
        gone = sum(
            name in smaller and name not in larger
            for index, smaller in enumerate(within)
            for larger in within[index + 1 :]
        )
        absent = sum(at < answer.asked and name not in answer.names for answer in every)
        early = sum(at >= answer.asked and name in answer.names for answer in every)
        findings.add("other counts", name, gone, absent, early, name in place)


def _by_growth(findings: Findings, answers: Sequence[Answer]) -> None:
    """What comes among the pairs that are at hand already, when more are asked for."""
    seen: set[str] = set()
    for number, answer in enumerate(answers):
        last_seen = max((at for at, name in enumerate(answer.names) if name in seen), default=-1)
        for at, name in enumerate(answer.names):
            if name not in seen:
                lost = sum(name not in later.names for later in answers[number + 1 :])
                findings.add(
                    "growing counts", name, number, last_seen - at, lost, answer.asked - at
                )
        seen |= set(answer.names)


def _by_length(findings: Findings, first: Answer, answers: Sequence[Answer]) -> None:
    """How many more pairs came than were asked for: in the answers that hold a pair, and by how
    much that grows between the counts just below and just above the pair's place."""
    more: dict[str, list[float]] = defaultdict(list)
    excess = {0: 0}
    for answer in [first, *answers]:
        excess[answer.asked] = len(answer.names) - answer.asked
        for name in answer.names:
            more[name].append(len(answer.names) - answer.asked)
    asked = sorted(excess)
    for name, own in more.items():
        place = first.names.index(name) if name in first.names else nan
        below = max((count for count in asked if count <= place), default=nan)
        above = min((count for count in asked if count > place), default=nan)
        grows = nan
        if not isnan(below) and not isnan(above):
            grows = (excess[int(above)] - excess[int(below)]) / max(1.0, above - below)
        findings.add("lengths of answers", name, sum(own) / len(own), max(own), min(own), grows)


def _by_place(findings: Findings, answer: Answer, queries: set[str]) -> None:
    places, query_of = _places(answer), _query_of(answer)
    for at, name in enumerate(answer.names):
        place, run = places[name]
        done = answer.body["done_in_query"][answer.assignments[at]]
        findings.add("place in the query", name, at, place, run, run - place, done)
        findings.add("place at the end", name, query_of[name] in queries, len(answer.names), run)


def _by_bytes(findings: Findings, first: Answer, last: Answer) -> None:
    """What is in the ids, and how long everything is."""
    later = dict(zip(last.names, last.pairs, strict=True))
    for pair in first.pairs:
        name, document = pair["name"], pair["document"]
        again = later.get(name, {})
        findings.add(
            "ids", name, *uuid.UUID(pair["assignment"]).bytes, *bytes.fromhex(name),
            pair["assignment"] == again.get("assignment"),
        )  # fmt: skip
        findings.add(
            "sizes", name, size(pair), len(pair), len(document["title"]), len(document["text"]),
            len(document["url"]), len(document["fields"]), len(document["html"]),
            len(pair["query"]["text"]), size(again),
        )  # fmt: skip


def _by_order(findings: Findings, first: Answer, answers: Sequence[Answer]) -> None:
    """Whether a pair stands elsewhere, or beside others, when it comes again."""
    shared = [[name for name in answer.names if name in first.names] for answer in answers]
    kept = [[name for name in first.names if name in answer.names] for answer in answers]
    for name in first.names:
        shifts = [
            own.index(name) - before.index(name)
            for own, before in zip(shared, kept, strict=True)
            if name in own
        ]
        beside = [
            _beside(answer.names, name) == _beside(first.names, name)
            for answer in answers
            if name in answer.names
        ]
        findings.add("order across releases", name, sum(map(abs, shifts)), sum(beside), len(shifts))


def _beside(names: Sequence[str], name: str) -> tuple[Sequence[str], Sequence[str]]:
    at = names.index(name)
    return names[max(0, at - 1) : at], names[at + 1 : at + 2]


def _by_release(findings: Findings, full: Answer, after: Answer, released: set[str]) -> None:
    """What comes again of what was given back, and what comes in its stead."""
    strangers = [at for at, name in enumerate(after.names) if name not in full.names]
    missing = sum(name not in after.names for name in full.names)
    for at, name in enumerate(full.names):
        now = after.names.index(name) if name in after.names else nan
        nearest = min((abs(other - at) for other in strangers), default=nan)
        findings.add(
            "releasing some", name, name in released, name in after.names, now - at,
            len(strangers), missing, nearest,
        )  # fmt: skip


def _by_expiry(findings: Findings, before: Answer, after: Answer) -> None:
    for at, name in enumerate(before.names):
        now = after.names.index(name) if name in after.names else nan
        missing = sum(other not in after.names for other in before.names)
        findings.add("letting leases expire", name, name in after.names, now - at, missing)


def _by_waiting(findings: Findings, strategy: str, first: Answer, answer: Answer) -> None:
    """Which pairs come again, and where among those that do."""
    came = [name for name in first.names if name in answer.names]
    places, query_of = _places(first), _query_of(first)
    of_query = Counter(query_of[name] for name in came)
    for name in first.names:
        beside = [other for group in _beside(first.names, name) for other in group]
        findings.add(
            strategy, name, name in came, sum(other in came for other in beside),
            of_query[query_of[name]] / places[name][1], places[name][0],
            answer.names.index(name) - came.index(name) if name in came else nan,
        )  # fmt: skip


def _by_polling(findings: Findings, first: Answer, answers: Sequence[Answer]) -> None:
    """Pairs that vanish together, or as others appear."""
    within = [set(first.names), *(set(answer.names) for answer in answers)]
    seen = {name: tuple(name in names for names in within) for name in first.names}
    query_of = _query_of(first)
    vanished = {name: own.index(False) if False in own else len(own) for name, own in seen.items()}
    together = Counter((query_of[name], vanished[name]) for name in first.names)
    new = [
        {query for name, query in _query_of(answer).items() if name not in before}
        for before, answer in zip(within, answers, strict=False)
    ]
    for name in first.names:
        beside = [other for group in _beside(first.names, name) for other in group]
        when = vanished[name]
        findings.add(
            "polling for pairs that vanish together", name, when, sum(seen[name]),
            together[query_of[name], when], sum(seen[other] == seen[name] for other in beside),
            sum(b and not a for a, b in zip(seen[name], seen[name][1:], strict=False)),
            query_of[name] in new[when - 1] if when <= len(new) else nan,
        )  # fmt: skip
    strangers = {name: nan for answer in answers for name in answer.names if name not in seen}
    for number, answer in enumerate(answers):
        for at, name in enumerate(answer.names):
            if name in strangers:
                findings.add(
                    "pairs that appear later", name, number, at, len(answer.names) - at,
                    _query_of(answer)[name] in query_of.values(),
                    sum(name in later for later in within[number + 2 :]),
                )  # fmt: skip


def _send_late(session: Session, findings: Findings, first: Answer, last: Answer) -> None:
    """Label pairs that were given back, by the assignments that they had."""
    account = session.account
    chosen = session.sample(first, findings)
    before = account.next(1, is_counted=True)
    for name in chosen:
        old = first.assignments[first.names.index(name)]
        answer = account.label_one(make_label(session.rng, old), count=1)
        findings.add(
            "late labels", name, name in last.names, *_of_receipt(answer.body["labels"][0])
        )
        findings.add(
            "progress after late labels", name, name in last.names, answer.done - before.done,
            answer.left - before.left,
        )  # fmt: skip
        before = answer


STATUSES = ("stored", "repeated", "refused")


def _of_receipt(receipt: Mapping[str, Any]) -> Features:
    code = sum(map(ord, receipt.get("code", "")))
    status = STATUSES.index(receipt["status"])
    return status, bool(receipt.get("surplus")), len(receipt), size(receipt), code


def _by_receipt(findings: Findings, strategy: str, name: str, receipt: Mapping[str, Any]) -> None:
    findings.add(strategy, name, *_of_receipt(receipt))


def _query_of(answer: Answer) -> dict[str, str]:
    return {pair["name"]: pair["query"]["text"] for pair in answer.pairs}


def _group_by_query(answer: Answer) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for name, query in _query_of(answer).items():
        groups[query].append(name)
    return groups


def _places(answer: Answer) -> dict[str, tuple[int, int]]:
    """Of each pair its place among those of its query, and how many of these there are."""
    return {
        name: (place, len(own))
        for own in _group_by_query(answer).values()
        for place, name in enumerate(own)
    }


def _done_by_query(answer: Answer) -> dict[str, int]:
    done = answer.body["done_in_query"]
    return {pair["query"]["text"]: done[pair["assignment"]] for pair in answer.pairs}
