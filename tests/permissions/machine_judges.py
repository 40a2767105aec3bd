"""Who gets what at the addresses of machine judges."""

from typing import Any

from annotation.machine_judges.configuration import Configuration
from annotation.models import (
    Campaign,
    JudgeAttempt,
    JudgeCampaign,
    JudgeRevision,
    MachineJudge,
    MachineLabel,
)
from judgments.models import JudgmentList, JudgmentVersion, Secret
from judgments.versions.services import Change, commit_judgments
from tests.builders import NOW, World
from tests.builders_annotation import make_draft, make_guideline
from tests.permissions.api import JSON, PUT
from tests.permissions.api import leads as api_leads
from tests.permissions.api import managers as api_managers
from tests.permissions.judgments import books
from tests.permissions.table import Row, leads, managers, readers

# nothing may be asked, so that those who may configure get the reason
DRAFT = "00000000-0000-4000-8000-00000000d4a7"
FORM: dict[str, Any] = {"name": "Model", "url": "http://127.0.0.1:9/", "model": "m"}


def judge_of(world: World) -> MachineJudge:
    """A machine judge with a secret."""
    secret = Secret.objects.create(
        collection=world.collection, origin="http://a.example", ciphertext="x", created_at=NOW
    )
    judge = MachineJudge.objects.create(
        collection=world.collection, name="Model", secret=secret, created_at=NOW
    )
    JudgeRevision.objects.create(
        judge=judge,
        number=1,
        guideline_revision=make_guideline(world=world).revisions.get(),
        configuration=Configuration(url="http://127.0.0.1:9/", model="m").to_json(),
        instructions="Judge.",
        created_at=NOW,
    )
    return judge


def judge(world: World) -> dict[str, Any]:
    return books(world) | {"judge_id": judge_of(world).pk}


def revision(world: World) -> dict[str, Any]:
    return judge(world) | {"number": 1}


def at_work(world: World) -> dict[str, Any]:
    judge = judge_of(world)
    own = JudgeCampaign.objects.create(
        judge=judge,
        revision=judge.revisions.get(),
        campaign=make_draft(world=world),
        pairs=1,
        last_pair=1,
        created_at=NOW,
    )
    return books(world) | {"public_id": own.public_id}


def startable(world: World) -> dict[str, Any]:
    """A judge, and a draft that it could label."""
    found = judge(world)
    Campaign.objects.filter(pk=make_draft(world=world).pk).update(public_id=DRAFT)
    return found


def graded(world: World) -> dict[str, Any]:
    """A list with a grade of a machine judge."""
    evidence = {"machine": {"judge": "Model", "revision": 1, "label": 1}}
    JudgmentList.objects.filter(pk=world.judgments.pk).update(takes="machine_elsewhere")
    commit_judgments(
        judgment_list=world.judgments,
        changes=[Change(world.queries[0].pk, world.documents[0].pk, 3, evidence)],
        by=world.ada,
        at=NOW,
        reason="",
        source=JudgmentVersion.Source.MACHINE,
    )
    return books(world) | {"list_slug": world.judgments.slug}


def labelled(world: World) -> dict[str, Any]:
    """A judge with a label of one pair that people have not concluded."""
    path = at_work(world)
    own = JudgeCampaign.objects.get(public_id=path["public_id"])
    texts = {"digest": "a" * 64, "content_hash": "b" * 64}
    pair = {"query": world.queries[0], "document": world.documents[0], "grade": 3}
    attempt = JudgeAttempt.objects.create(
        campaign=own, **pair, **texts, outcome="labelled", is_last=True, seconds=1, ended_at=NOW
    )
    MachineLabel.objects.create(
        revision=own.revision, **pair, **texts, attempt=attempt, created_at=NOW
    )
    return books(world) | {"judge_id": own.judge_id}


ROWS: list[Row] = [
    api_managers("api-machine-judges", path=books),
    api_leads("api-judge-family", path=judge, data={"family": "gpt"}, **PUT),
    api_managers("api-judge-campaigns", path=judge),
    api_leads("api-judge-campaigns", 202, path=startable, data={"campaign": DRAFT}, **JSON),
    api_managers("api-judge-campaign", path=at_work),
    api_managers("api-judge-agreement", path=labelled),
    managers("machine-judges", path=books),
    leads("machine-judge-create", path=books),
    leads("machine-judge-create", path=books, method="post", data=FORM),
    managers("machine-judge", path=judge),
    managers("machine-judge-revision", path=revision),
    leads("machine-judge-edit", path=judge),
    leads("machine-judge-edit", path=judge, method="post", data=FORM),
    managers("machine-judge-trust", path=judge),
    leads("machine-judge-budget", path=judge),
    leads(
        "machine-judge-budget",
        302,
        path=judge,
        method="post",
        data={"tokens_total": 1_000, "warn_percent": 80},
    ),
    leads("machine-judge-family", 302, path=judge, method="post", data={"family": "gpt"}),
    leads("machine-judge-grade", 302, path=judge, method="post"),
    managers("list-takes", path=graded),
    leads("list-takes", 302, path=graded, method="post", data={"takes": "people"}),
    readers("api-list-takes", path=graded, anonymous=401),
    api_leads("api-list-takes", path=graded, data={"takes": "people"}, **PUT),
    leads("list-machine-remove", 302, path=graded, method="post"),
    leads("judge-campaign-start", 302, path=startable, method="post", data={"campaign": DRAFT}),
    managers("judge-campaign", path=at_work),
    leads("judge-campaign-stop", 302, path=at_work, method="post"),
    leads("machine-judge-secret-remove", 302, path=judge, method="post"),
]
