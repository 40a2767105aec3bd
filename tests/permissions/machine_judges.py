"""Who gets what at the addresses of machine judges."""

from typing import Any

from annotation.machine_judges.configuration import Configuration
from annotation.models import JudgeRevision, MachineJudge
from judgments.models import Secret
from tests.builders import NOW, World
from tests.builders_annotation import make_guideline
from tests.permissions.judgments import books
from tests.permissions.table import Row, leads, managers

# nothing may be asked, so that whoever may configure gets the reason
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


ROWS: list[Row] = [
    managers("machine-judges", path=books),
    leads("machine-judge-create", path=books),
    leads("machine-judge-create", path=books, method="post", data=FORM),
    managers("machine-judge", path=judge),
    managers("machine-judge-revision", path=revision),
    leads("machine-judge-edit", path=judge),
    leads("machine-judge-edit", path=judge, method="post", data=FORM),
    leads("machine-judge-secret-remove", 302, path=judge, method="post"),
]
