"""The demo's cast: three people who may sign in, and three annotators whom no one signs in as."""

import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from judgments.models import Role, User

SIGN_INS: Final = "demo-sign-ins.json"


@dataclass(frozen=True)
class SignIn:
    """An account that may sign in, with the password that was drawn for it."""

    role: str
    username: str
    password: str


@dataclass(frozen=True)
class People:
    """first, second: the readings of `grades.tsv`. third: an annotator who is made up."""

    lead: User
    researcher: User
    annotator: User
    first: User
    second: User
    third: User

    def roles(self) -> dict[User, Role]:
        """What each is in the collection; the lead has made it."""
        labelling = (self.annotator, self.first, self.second, self.third)
        return {self.researcher: Role.RESEARCHER} | dict.fromkeys(labelling, Role.ANNOTATOR)


def create_people() -> tuple[tuple[SignIn, ...], People]:
    """The cast, and how to sign in as those who can."""
    sign_ins = []
    users = {}
    for role, name in (("annotator", "Ben"), ("researcher", "Dora"), ("lead", "Ada")):
        password = "-".join(secrets.token_hex(2) for _ in range(4))
        users[role] = User.objects.create_user(
            username=role, password=password, name=f"{name} ({role})"
        )
        sign_ins.append(SignIn(role, role, password))
    for which, username, name in (
        ("first", "first-reading", "First reading (model)"),
        ("second", "second-reading", "Second reading (model)"),
        ("third", "third-annotator", "Third annotator (simulated)"),
    ):
        users[which] = User.objects.create_user(username=username, name=name)
    return tuple(sign_ins), People(**users)


def keep_sign_ins(sign_ins: Sequence[SignIn], home: Path) -> None:
    """Write them down for the next start, for the owner of `home` alone."""
    path = home / SIGN_INS
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump([asdict(one) for one in sign_ins], file)


def load_sign_ins(home: Path) -> list[SignIn]:
    """Those whose password still works; none where nothing was written down."""
    try:
        rows = json.loads((home / SIGN_INS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    accounts = {one.username: one for one in User.objects.filter(is_active=True)}
    kept = [SignIn(**row) for row in rows]
    return [
        one
        for one in kept
        if one.username in accounts and accounts[one.username].check_password(one.password)
    ]
