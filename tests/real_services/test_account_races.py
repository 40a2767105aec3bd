"""People who change the same accounts at once, over two real connections."""

from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from config.suspending import suspend
from judgments.accounts.services import AccountRefused
from judgments.members import services as members
from judgments.members.services import (
    MemberRefused,
    create_first_user,
    invite,
    register_and_accept,
    setup_code,
)
from judgments.models import AuditEntry, User
from judgments.permissions import NotFound
from tests.builders import NOW, make_access, make_user, make_world
from tests.racing import CROWD, ROUNDS, AtOnce, raised

pytestmark = pytest.mark.django_db(transaction=True)
PASSWORD = "a long enough password"


def first(number: int) -> User:
    return create_first_user(
        code=setup_code(), username=f"first{number}", name="", password=PASSWORD, at=NOW
    )


@pytest.mark.postgres
@pytest.mark.parametrize("_", range(3))
def test_of_many_first_people_at_once_there_is_one(at_once: AtOnce, _: int) -> None:
    done = at_once(*[partial(first, number) for number in range(CROWD)])
    (made,) = [one for one in done if isinstance(one, User)]
    assert {type(error) for error in raised(done)} == {NotFound}
    assert User.objects.get() == made
    assert AuditEntry.objects.filter(action="installation.set_up").count() == 1


def test_a_first_person_who_comes_second_is_refused_after_asking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The answer to "is there anyone?" is old by the time of the insert."""
    answers = [False]
    asked = members.is_set_up
    monkeypatch.setattr(members, "is_set_up", lambda: answers.pop() if answers else asked())
    make_user(username="ada")
    with pytest.raises(NotFound):
        first(1)
    assert User.objects.count() == 1


@pytest.mark.postgres
def test_two_administrators_who_suspend_each_other_leave_one(at_once: AtOnce) -> None:
    root, other = (make_user(username=name, is_superuser=True) for name in ("root", "other"))
    for _ in range(ROUNDS):
        User.objects.update(is_active=True, suspended_at=None)
        done = at_once(
            partial(suspend, user=root, by=other, at=NOW),
            partial(suspend, user=other, by=root, at=NOW),
        )
        (refused,) = raised(done)
        assert isinstance(refused, AccountRefused)
        assert User.objects.filter(is_active=True).count() == 1


@pytest.mark.postgres
def test_two_spellings_of_a_user_name_at_once_make_one_account(at_once: AtOnce) -> None:
    access = make_access(collection=make_world().collection)

    def register(token: str, username: str) -> User:
        words: dict[str, Any] = {"name": "", "password": PASSWORD, "at": timezone.now()}
        return register_and_accept(token=token, username=username, **words)

    for number in range(ROUNDS):
        invited: dict[str, Any] = {"role": "annotator", "note": "", "days": 7, "at": timezone.now()}
        tokens = [invite(access=access, **invited)[1] for _ in range(2)]
        names = (f"fay{number}", f"FAY{number}")
        done = at_once(*[partial(register, *one) for one in zip(tokens, names, strict=True)])
        (refused,) = raised(done)
        assert isinstance(refused, MemberRefused)
        assert User.objects.filter(username_key=f"fay{number}").count() == 1
