"""A list that no tool reads as another does, and runs whose order depends on the tool."""

import pytest
from celery import current_app

from evaluation.models import Run
from evaluation.tool_differences import services
from judgments.models import JudgmentList
from tests.builders import World, commit, make_list, make_world
from tests.evaluation.builders import make_run
from tests.evaluation.tool_differences.worker import RUN
from touchstone.scales import Scale


@pytest.fixture(autouse=True)
def messages(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What a worker was told to compute."""
    sent: list[tuple[object, ...]] = []

    def send(name: str, args: tuple[object, ...], **_: object) -> None:
        if name == services.TASK:
            sent.append(tuple(args))

    monkeypatch.setattr(current_app, "send_task", send)
    return sent


@pytest.fixture
def world() -> World:
    return make_world(queries=6)


@pytest.fixture
def wide(world: World) -> JudgmentList:
    """A list with grades below 0, on which q3 has no answer and q4 no judgment."""
    found = make_list(collection=world.collection, slug="wide", scale=Scale.parse("-2..4"))
    q1, q2, q3, _, q5, q6 = world.queries
    d1, d2, d3, d4, _ = world.documents
    grades = {(q1, d1): 2, (q1, d2): 4, (q1, d3): -1, (q2, d1): 1, (q2, d4): 3}
    commit(
        judgment_list=found, grades=grades | {(q3, d1): 3, (q5, d2): 0, (q6, d1): -2, (q6, d2): 1}
    )
    found.refresh_from_db()
    return found


@pytest.fixture
def run(world: World) -> Run:
    return make_run(collection=world.collection, text=RUN)


@pytest.fixture
def rivals(world: World, wide: JudgmentList) -> tuple[Run, Run]:
    """One answers every judged query a little, the other one query well."""
    all_qids = [query.qid for query in world.queries]
    steady = make_run(
        collection=world.collection,
        ranker="steady",
        rankings={qid: ["d5", "d3", "d1"] for qid in all_qids},
    )
    brilliant = make_run(collection=world.collection, ranker="brilliant", rankings={"q1": ["d2"]})
    return steady, brilliant
