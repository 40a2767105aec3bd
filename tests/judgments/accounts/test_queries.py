"""Accounts of the installation: user names, suspension, administrators."""

import json
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Label
from config.suspending import suspend
from judgments.accounts.services import AccountRefused, make_administrator, resume_account
from judgments.accounts.tokens import create_token
from judgments.management.lookup import CommandRefused, get_user
from judgments.members.services import (
    MemberRefused,
    add_name,
    change_password,
    create_first_user,
    invite,
    register_and_accept,
    setup_code,
)
from judgments.models import ApiToken, AuditEntry, Invitation, Membership, Session, User
from judgments.usernames import fold
from tests.builders import NOW, World, make_access, make_user
from tests.builders_annotation import label, lease, make_campaign
from tests.judgments.management.test_commands import run

pytestmark = pytest.mark.django_db
PASSWORD = "a long enough password"
BACKEND = "django.contrib.auth.backends.ModelBackend"
LIVE = "/api/v1/collections/"


def with_password(user: User) -> User:
    user.set_password(PASSWORD)
    user.save(update_fields=["password"])
    return user


def sign_in(username: str, password: str = PASSWORD) -> Client | None:
    """A client of its own, signed in; None if that was refused."""
    client = Client()
    form = {"username": username, "password": password}
    return client if client.post(reverse("login"), form).status_code == 302 else None


def token_of(user: User) -> Client:
    _, text = create_token(by=user, name="t", scope="write", days=7, at=timezone.now())
    return Client(headers={"Authorization": f"Bearer {text}"})


# user names


@pytest.mark.parametrize(
    ("one", "other"),
    [("ada", "ADA"), ("Ünal", "üNAL"), ("straße", "STRASSE"), ("ada", "ａｄａ"), ("ﬁona", "Fiona")],
)
def test_two_spellings_of_a_user_name_are_one(one: str, other: str) -> None:
    assert fold(one) == fold(other)
    assert fold(fold(one)) == fold(one)


@pytest.mark.parametrize("name", ["BEN", "Ben", "ｂｅｎ", "ben"])
def test_a_user_name_that_differs_by_its_spelling_alone_is_refused(world: World, name: str) -> None:
    access = make_access(collection=world.collection)
    _, token = invite(access=access, role="annotator", note="", days=7, at=NOW)
    with pytest.raises(MemberRefused):
        register_and_accept(token=token, username=name, name="", password=PASSWORD, at=NOW)
    assert User.objects.filter(username_key="ben").count() == 1


def test_the_database_itself_keeps_one_account_for_a_name() -> None:
    make_user(username="ada")
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.bulk_create([User(username="ADA")])


def test_people_sign_in_under_any_spelling_of_their_name() -> None:
    with_password(make_user(username="Ünal"))
    for name in ("Ünal", "üNAL", "U\u0308nal"):
        assert sign_in(name)
    assert not sign_in("unal")


def test_a_name_of_wide_dots_alone_is_refused() -> None:
    with pytest.raises(MemberRefused, match="only dots"):
        create_first_user(code=setup_code(), username="．．", name="", password=PASSWORD, at=NOW)


def test_a_command_finds_an_account_under_any_spelling(world: World) -> None:
    assert get_user("ADA") == world.ada


# what a change of the password ends


def test_a_changed_password_ends_tokens_and_the_sessions_of_other_browsers(world: World) -> None:
    ben = with_password(world.ben)
    here, elsewhere, script = sign_in("ben"), sign_in("ben"), token_of(ben)
    assert here is not None
    assert elsewhere is not None
    page = here.get(reverse("password"))
    assert page.context["form"]["end_tokens"].value() is True
    assert "(1)" in page.context["form"]["end_tokens"].label
    new = "another fine password"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert here.post(reverse("password"), form | {"end_tokens": "on"}).status_code == 302
    assert here.get(reverse("tokens")).status_code == 200
    assert elsewhere.get(reverse("tokens")).status_code == 302
    assert script.get(LIVE).status_code == 401
    entry = AuditEntry.objects.get(action="password.changed")
    assert entry.after == {"tokens_ended": 1}


def test_tokens_outlive_a_change_of_the_password_where_that_is_asked_for(world: World) -> None:
    here, script = sign_in(with_password(world.ben).username), token_of(world.ben)
    assert here is not None
    new = "another fine password"
    form = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert here.post(reverse("password"), form).status_code == 302
    assert script.get(LIVE).status_code == 200


def test_without_tokens_nobody_is_asked_about_them(client: Client, world: World) -> None:
    client.force_login(world.ben, backend=BACKEND)
    assert "end_tokens" not in client.get(reverse("password")).context["form"].fields


@pytest.mark.parametrize(("words", "left"), [((), 0), (("--keep-tokens",), 1)])
def test_the_command_ends_tokens_unless_they_are_kept(capsys, monkeypatch, world, words, left):
    token_of(world.ben)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("judgments.management.commands.changepassword.getpass", lambda _: PASSWORD)
    status, out, _ = run(capsys, "changepassword", "ben", "--json", *words)
    assert (status, json.loads(out)) == (0, {"username": "ben", "tokens_ended": 1 - left})
    assert ApiToken.objects.count() == left


# suspension


def test_a_suspended_person_is_out_at_once_and_for_good(world: World) -> None:
    with_password(world.ben)
    here, script = sign_in("ben"), token_of(world.ben)
    assert here is not None
    ended = suspend(user=world.ben, by=None, at=NOW)
    assert ended is not None
    assert (ended.sessions, ended.tokens) == (1, 1)
    assert not Session.objects.filter(user=world.ben).exists()
    assert here.get(reverse("tokens")).status_code == 302
    assert script.get(LIVE).status_code == 401
    assert sign_in("ben") is None
    assert resume_account(user=world.ben, by=None, at=NOW)
    # neither comes back with the account
    assert here.get(reverse("tokens")).status_code == 302
    assert script.get(LIVE).status_code == 401
    assert sign_in("ben")
    entries = AuditEntry.objects.filter(action__startswith="account.").order_by("pk")
    actions = [one.action for one in entries if one.subject == "ben"]
    assert actions == [
        "account.suspended",
        "account.resumed",
    ]


def test_what_a_suspended_person_held_goes_to_others_and_their_labels_stay(world: World) -> None:
    campaign = make_campaign(world=world, overlap=1)
    first = campaign.pairs.order_by("pk").first()
    assert first is not None
    label(pair=first, username="ben", grade=3)
    held = lease(campaign=campaign, username="ben", count=4)
    assert held
    ended = suspend(user=world.ben, by=None, at=NOW)
    assert ended is not None
    assert ended.leases == Assignment.objects.filter(state="voided", annotator=world.ben).count()
    assert ended.leases > 0
    assert not Assignment.objects.filter(state="leased", annotator=world.ben).exists()
    assert Label.objects.filter(annotator=world.ben).count() == 1
    assert Membership.objects.filter(user=world.ben).exists()


def test_a_suspended_person_s_open_invitations_no_longer_work(world: World) -> None:
    access = make_access(collection=world.collection)
    made, token = invite(access=access, role="researcher", note="", days=30, at=timezone.now())
    make_administrator(user=make_user(username="root"), by=None, at=NOW)
    ended = suspend(user=world.ada, by=None, at=NOW)
    assert ended is not None
    assert (ended.invitations, ended.collections_without_lead) == (1, ["books"])
    assert Client().get(reverse("invitation", args=[token])).status_code == 404
    assert Invitation.objects.get(pk=made.pk).withdrawn_at == NOW


def test_the_last_active_administrator_is_not_suspended() -> None:
    root, other = (make_user(username=name, is_superuser=True) for name in ("root", "other"))
    assert suspend(user=other, by=root, at=NOW)
    with pytest.raises(AccountRefused, match="last active administrator"):
        suspend(user=root, by=root, at=NOW)
    root.refresh_from_db()
    assert root.is_active


def test_a_name_that_labels_came_with_is_no_account(world: World) -> None:
    name = add_name(collection=world.collection, name="agent 1", by=None, at=NOW)
    for change in (suspend, make_administrator):
        with pytest.raises(AccountRefused):
            change(user=name, by=None, at=NOW)
    assert not resume_account(user=name, by=None, at=NOW)


def test_labels_under_the_name_of_a_suspended_person_are_not_theirs(world: World) -> None:
    """A person may call themselves as a name of imported labels is called."""
    called = {"username": "agent-1@books", "username_key": "agent-1@books", "name": "agent 1"}
    User.objects.filter(pk=world.ben.pk).update(**called)
    suspend(user=world.ben, by=None, at=NOW)
    assert add_name(collection=world.collection, name="agent 1", by=None, at=NOW) != world.ben


def test_the_database_keeps_no_active_account_that_is_suspended(world: World) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        User.objects.filter(pk=world.ben.pk).update(suspended_at=NOW)


def test_leads_see_who_is_suspended(client: Client, world: World) -> None:
    campaign = make_campaign(world=world)
    suspend(user=world.ben, by=None, at=NOW)
    client.force_login(world.ada, backend=BACKEND)
    page = client.get(reverse("members", args=["books"])).context["page"]
    assert {row.username for row in page.members if row.is_suspended} == {"ben"}
    assert not any(row.is_name for row in page.members)
    dashboard = client.get(reverse("campaign", args=["books", campaign.public_id]))
    assert dashboard.text.count(">suspended<") == 1


def test_pairs_are_not_offered_to_a_suspended_person(client: Client, world: World) -> None:
    campaign = make_campaign(world=world)
    suspend(user=world.ben, by=None, at=NOW)
    client.force_login(world.ada, backend=BACKEND)
    path = reverse("campaign-leases-release", args=["books", campaign.public_id, "cem"])
    assert client.get(path).context["others"] == []
    # nor by hand
    assert client.post(path, {"to": "ben"}).status_code == 404


# commands


def test_accounts_are_listed_with_state_roles_and_tokens(capsys, world):
    token_of(world.dora)
    make_administrator(user=world.eve, by=None, at=NOW)
    suspend(user=world.ben, by=None, at=NOW)
    add_name(collection=world.collection, name="agent 1", by=None, at=NOW)
    status, out, _ = run(capsys, "list_accounts", "--json")
    rows = {row["username"]: row for row in json.loads(out)["accounts"]}
    assert status == 0
    assert (rows["ben"]["state"], rows["ben"]["suspended_at"]) == ("suspended", NOW.isoformat())
    assert rows["dora"]["tokens"] == 1
    assert rows["ada"]["collections"] == {"books": "lead"}
    assert rows["eve"]["is_administrator"]
    assert rows["agent-1@books"]["state"] == "name"
    lines = run(capsys, "list_accounts")[1].splitlines()
    assert len(lines) == User.objects.count()
    assert lines[0].split("\t")[:2] == [User.objects.order_by("pk")[0].username, "active"]


def test_accounts_are_suspended_and_resumed_by_command(capsys, world):
    make_user(username="root", is_superuser=True)
    status, out, err = run(capsys, "suspend_account", "ADA", "--by", "root", "--json")
    assert (status, json.loads(out)["changed"], "books" in err) == (0, True, True)
    entry = AuditEntry.objects.get(action="account.suspended")
    assert (entry.subject, entry.actor.username) == ("ada", "root")
    again = json.loads(run(capsys, "suspend_account", "ada", "--json")[1])
    assert again == {"username": "ada", "changed": False}
    assert run(capsys, "resume_account", "ada") == (0, "", "")
    assert json.loads(run(capsys, "resume_account", "ada", "--json")[1])["changed"] is False
    assert User.objects.get(username="ada").is_active


def test_an_administrator_is_made_by_command_and_then_sees_everything(capsys, world):
    assert run(capsys, "make_administrator", "eve") == (0, "", "")
    eve = User.objects.get(username="eve")
    assert make_access(collection=world.collection, username="eve").is_admin
    assert (eve.is_superuser, AuditEntry.objects.latest("pk").action) == (
        True,
        "account.made_administrator",
    )
    assert json.loads(run(capsys, "make_administrator", "eve", "--json")[1])["changed"] is False


@pytest.mark.parametrize(
    "command",
    [
        "suspend_account",
        "resume_account",
        "make_administrator",
        "remove_administrator",
        "end_sessions",
        "reset_link",
    ],
)
def test_a_command_names_an_account_that_does_not_exist(capsys, command):
    status, _, err = run(capsys, command, "nobody")
    assert (status, "nobody" in err) == (2, True)


def test_a_suspended_person_is_nobody_s_author(world: World) -> None:
    suspend(user=world.ben, by=None, at=NOW)
    with pytest.raises(CommandRefused):
        get_user("ben")
    with pytest.raises(AccountRefused):
        make_administrator(user=world.ben, by=None, at=NOW)


def test_a_password_given_by_command_ends_sessions(world: World) -> None:
    here = sign_in(with_password(world.ben).username)
    assert here is not None
    words: dict[str, Any] = {
        "password": "another fine password",
        "end_tokens": True,
        "by": None,
        "at": NOW,
    }
    assert change_password(user=world.ben, **words) == 0
    assert here.get(reverse("tokens")).status_code == 302
