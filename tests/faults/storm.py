"""A storm: annotators label over HTTP while a plan of faults strikes the processes that serve them.

What strikes, and after how many acknowledged labels, follows from the seed; it is bounded in
count and in time, and ends by itself.
"""

import json
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tests.faults.annotator import Annotator
from tests.faults.site import Embedded, Production, Site
from tests.forks import begin_forked

LONGEST_GAP = 1.5  # seconds until what was killed is started again, or what was frozen goes on
VERIFYING = 1800.0  # seconds for holding everything against everything

Strikes = Mapping[str, Callable[[random.Random], None]]


@dataclass(frozen=True)
class Plan:
    """What happens.

    labels: two for each pair, before corrections. faults: how many before the last one.
    think: seconds that an annotator takes for a label. batch: labels sent at once. mishaps: the
    part of the requests whose answer gets lost on its way. everything: also faults that take
    long, or that befall servers which are no one else's. ending: `kill`: the worker is dead during
    the last labels, and Redis is flushed before it comes back; `freeze`: Redis stands still
    during the last labels, so that nothing at all announces them; `stop`: it is not even there.
    lull: the part of the labels after which that begins, and no other fault strikes.
    limit, patience: seconds for the labels, and then for what is due. people_wait: seconds for
    which an annotator sends the same again.
    """

    labels: int = 500
    annotators: int = 8
    depth: int = 10
    faults: int = 6
    think: float = 0.3
    batch: int = 1
    mishaps: float = 0.0
    everything: bool = False
    people_wait: float = 90.0
    ending: str = "kill"
    lull: float = 0.9
    seed: int = 2
    limit: float = 300.0
    patience: float = 30.0
    sabotage: str = ""

    @property
    def queries(self) -> int:
        """As many as it takes."""
        return -(-self.labels // (2 * self.depth))

    def moments(self, kinds: Sequence[str]) -> Iterator[tuple[int, str, random.Random]]:
        """After how many labels what strikes, and the dice for how; every kind in turn."""
        dice = random.Random(self.seed)
        stretch = self.lull * self.labels / max(self.faults, 1)
        for number in range(self.faults):
            yield int((number + dice.random()) * stretch), kinds[number % len(kinds)], dice

    def environment(self) -> dict[str, str]:
        """The settings of the processes, or of a sabotaged build of them."""
        if not self.sabotage:
            return {"DJANGO_SETTINGS_MODULE": "config.settings"}
        return {
            "DJANGO_SETTINGS_MODULE": "tests.faults.sabotaged",
            "TOUCHSTONE_SABOTAGE": self.sabotage,
        }


@dataclass
class Outcome:
    """What came of it. problems: a sentence for everything that must not be; logs: if any is."""

    problems: dict[str, list[str]] = field(default_factory=dict)
    struck: list[str] = field(default_factory=list)
    labels: int = 0
    versions: int = 0
    retries: int = 0
    mishaps: int = 0
    labelling_seconds: float = 0.0
    convergence_seconds: float | None = None
    waits: list[float] = field(default_factory=list)
    lags: Mapping[str, list[float]] = field(default_factory=dict)
    backlog: Mapping[str, int] = field(default_factory=dict)
    stages: Mapping[str, float] = field(default_factory=dict)
    logs: str = ""

    def __str__(self) -> str:
        lags = {"label to answer": sorted(self.waits), **self.lags}
        lines = [
            f"{self.labels} labels in {self.labelling_seconds:.1f} s, {self.versions} versions, "
            + f"{self.retries} requests sent again, {self.mishaps} answers lost or cut in half",
            f"struck {len(self.struck)} times: {', '.join(self.struck)}",
            f"nothing due {self.convergence_seconds} s after the last acknowledgement",
            "    of what was due then: "
            + ", ".join(f"{n} {what}" for what, n in self.backlog.items()),
            *(f"    {what} after {seconds:.1f} s" for what, seconds in self.stages.items()),
            *(f"{what}: {_percentiles(values)}" for what, values in lags.items() if values),
            *(f"PROBLEM {kind}: {found}" for kind, found in self.problems.items()),
            self.logs,
        ]
        return "\n".join(lines).rstrip()


class Counter:
    """How many labels were acknowledged, for those who wait for a number."""

    def __init__(self) -> None:
        self.count = 0
        self._changed = threading.Condition()
        self._is_over = False

    def add(self) -> None:
        """One more."""
        with self._changed:
            self.count += 1
            self._changed.notify_all()

    def end(self) -> None:
        """No more will come; no one need wait any longer."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def wait_for(self, count: int) -> bool:
        """Wait for so many; False if they never come."""
        with self._changed:
            self._changed.wait_for(lambda: self.count >= count or self._is_over)
            return self.count >= count


class Storm:
    """One storm over one site; what strikes it is the mode's own."""

    def __init__(self, plan: Plan, site: Site) -> None:
        self.plan = plan
        self.site = site
        self.counter = Counter()
        self.outcome = Outcome()
        self.logs = site.directory / "acknowledged"
        self.is_over = threading.Event()
        # what is still to happen once the last label is acknowledged
        self.endings: list[Callable[[], None]] = []

    def strikes(self) -> Strikes:
        """Each kind of fault."""
        raise NotImplementedError

    def begin_the_end(self) -> None:
        """The last fault, which lasts until the last label is acknowledged."""
        raise NotImplementedError

    def run(self) -> Outcome:
        """Build, label and strike, end, wait, examine."""
        words = (self.plan.annotators, self.plan.queries, self.plan.depth)
        scene = json.loads(self.site.call("-m", "tests.faults.scene", *map(str, words)))
        self.logs.mkdir()
        annotators = self._annotators(scene)
        try:
            self.site.begin()
            with _examiner(self.site, self.logs, self.plan.patience) as examiner:
                self._label(annotators)
                # so that something is due at this very moment; the quick leave some without a pair
                next(one for one in annotators if one.has_said).say_one_thing_more()
                since = time.time()
                for ending in self.endings:
                    ending()
                _gather(self.outcome, annotators)
                _report(self.outcome, json.loads(examiner(since)))
            _verify(self.site, self.outcome)
            if self.outcome.problems:
                self.outcome.logs = self.site.logs()
        except Exception as error:
            error.add_note(self.site.logs())
            raise
        finally:
            for annotator in annotators:
                annotator.close()
            self.site.stop()
        return self.outcome

    def _annotators(self, scene: dict[str, Any]) -> list[Annotator]:
        return [
            Annotator(
                address=self.site.address,
                headers=dict(self.site.headers),
                campaign=scene["campaign"],
                token=token,
                log=self.logs / f"{name}.jsonl",
                seed=1000 * self.plan.seed + number,
                think=self.plan.think,
                acknowledged=self.counter.add,
                batch=self.plan.batch,
                mishaps=self.plan.mishaps,
                patience=self.plan.people_wait,
                is_over=self.is_over,
            )
            for number, (name, token) in enumerate(scene["tokens"].items())
        ]

    def _label(self, annotators: list[Annotator]) -> None:
        """Everyone labels until nothing is left, while the plan strikes."""
        began = time.monotonic()
        deadline = began + self.plan.limit
        with ThreadPoolExecutor(len(annotators) + 1) as pool, self._ending():
            striking = pool.submit(self._strike)
            labelling = [pool.submit(annotator.work, deadline) for annotator in annotators]
            gave_up = [one.exception() for one in labelling]
            # a seat that a doubt opened may have come when those who may take it had gone home
            for annotator, error in zip(annotators, gave_up, strict=True):
                if error is None:
                    annotator.work(deadline)
            self.counter.end()
            striking.result()
        self.outcome.labelling_seconds = time.monotonic() - began
        self.outcome.problems["gave_up"] = [str(error) for error in gave_up if error is not None]

    @contextmanager
    def _ending(self) -> Iterator[None]:
        """Whatever breaks in, no one goes on who would be waited for."""
        try:
            yield
        except BaseException:
            self.is_over.set()
            self.counter.end()
            raise

    def _strike(self) -> None:
        strikes = self.strikes()
        for when, kind, dice in self.plan.moments(sorted(strikes)):
            if self.counter.wait_for(when):
                strikes[kind](dice)
                self.outcome.struck.append(f"{kind} after {self.counter.count}")
        if self.counter.wait_for(int(self.plan.lull * self.plan.labels)):
            self.begin_the_end()
            self.outcome.struck.append(f"{self.plan.ending} after {self.counter.count}")


class ProductionStorm(Storm):
    """Web server, workers, PostgreSQL and Redis, each a process of its own."""

    site: Production

    def run(self) -> Outcome:
        """Where PostgreSQL is killed, a server that may forget would be counted as our fault."""
        if self.plan.everything:
            self.site.require_durability()
        return super().run()

    def strikes(self) -> Strikes:
        site = self.site
        usual = {
            "flush": lambda dice: site.flush(),
            "kill worker": lambda dice: _restart(dice, site.kill_worker, site.start_worker),
            "kill a worker's child": lambda dice: site.kill_child("worker", dice.randrange(2)),
            "kill a web process": lambda dice: site.kill_child("web", dice.randrange(2)),
        }
        if not self.plan.everything:
            return usual
        return usual | {
            "expire leases": lambda dice: site.expire_leases(dice.randrange(2)),
            "freeze Redis": lambda dice: _thaw(dice, site.freeze_redis()),
            "freeze the web": lambda dice: site.freeze("web", dice.uniform(0.1, LONGEST_GAP)),
            "freeze the worker": lambda dice: site.freeze("worker", dice.uniform(0.1, LONGEST_GAP)),
            "kill PostgreSQL": lambda dice: site.kill_database(),
            "kill Redis": lambda dice: site.kill_redis()(),
        }

    def begin_the_end(self) -> None:
        if self.plan.ending == "freeze":
            self.endings = [self.site.freeze_redis()]
        elif self.plan.ending == "stop":
            self.endings = [self.site.kill_redis()]
        else:
            self.site.kill_worker()
            self.endings = [self.site.flush, self.site.start_worker]


class EmbeddedStorm(Storm):
    """Everything in one process, on SQLite; it is killed as a whole."""

    site: Embedded

    def strikes(self) -> Strikes:
        site = self.site
        usual = {"kill": lambda dice: _restart(dice, site.kill_all, site.begin)}
        if not self.plan.everything:
            return usual
        return usual | {
            "expire leases": lambda dice: site.expire_leases(dice.randrange(2)),
            "fill the disk": lambda dice: site.fill_disk(dice.uniform(0.1, LONGEST_GAP)),
            "freeze": lambda dice: site.freeze("serve", dice.uniform(0.1, LONGEST_GAP)),
        }

    def begin_the_end(self) -> None:
        self.endings = [self.site.kill_all, self.site.begin]


def storm_in_production(
    plan: Plan, *, directory: Path, database_url: str, redis_url: str
) -> Outcome:
    """A storm over what docker-compose would start."""
    site = Production(directory, database_url, redis_url, plan.environment())
    return ProductionStorm(plan, site).run()


def storm_embedded(plan: Plan, *, directory: Path) -> Outcome:
    """A storm over `manage.py serve`."""
    return EmbeddedStorm(plan, Embedded(directory, plan.environment())).run()


def _restart(dice: random.Random, kill: Callable[[], None], start: Callable[[], None]) -> None:
    kill()
    time.sleep(dice.uniform(0.0, LONGEST_GAP))
    start()


def _thaw(dice: random.Random, go_on: Callable[[], None]) -> None:
    time.sleep(dice.uniform(0.1, LONGEST_GAP))
    go_on()


def _gather(outcome: Outcome, annotators: list[Annotator]) -> None:
    outcome.waits = [wait for annotator in annotators for wait in annotator.waits]
    outcome.retries = sum(annotator.retries for annotator in annotators)
    outcome.mishaps = sum(annotator.mishap_count for annotator in annotators)
    outcome.problems["refused"] = [str(one) for own in annotators for one in own.refused]


@contextmanager
def _examiner(site: Site, logs: Path, patience: float) -> Iterator[Callable[[float], str]]:
    """A process that stands ready to examine; given the time to count from, its findings."""
    words = ("-m", "tests.faults.examine", str(logs), str(patience))
    with (
        _open_pipe() as (questions, asking),
        _open_pipe() as (answers, answering),
        (site.directory / "examiner.log").open("w") as log,
    ):
        examiner = begin_forked(
            words, env=site.environment, stdin=questions, stdout=answering, stderr=log
        )
        questions.close()
        answering.close()
        try:
            answers.readline()

            def examine(since: float) -> str:
                asking.write(f"{since!r}\n")
                asking.close()
                return answers.read()

            yield examine
        finally:
            examiner.close()


@contextmanager
def _open_pipe() -> Iterator[tuple[IO[str], IO[str]]]:
    """Where to read, and where to write what is read there."""
    reading, writing = os.pipe()
    with open(reading) as reader, open(writing, "w") as writer:  # noqa: PTH123
        yield reader, writer


def _report(outcome: Outcome, found: dict[str, Any]) -> None:
    outcome.convergence_seconds = found["seconds"]
    outcome.labels, outcome.versions = found["labels"], found["versions"]
    outcome.lags, outcome.backlog, outcome.stages = found["lags"], found["backlog"], found["stages"]
    outcome.problems |= found["problems"] | {"still_due": found["due"]}


def _verify(site: Site, outcome: Outcome) -> None:
    try:
        site.call("manage.py", "verify", "--all", patience=VERIFYING)
    except RuntimeError as error:
        outcome.problems["verify"] = [str(error)]
    outcome.problems = {kind: found for kind, found in outcome.problems.items() if found}


def _percentiles(values: list[float]) -> str:
    places = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}
    last = len(values) - 1
    return ", ".join(f"{name} {values[round(p * last)]:.3f} s" for name, p in places.items())
