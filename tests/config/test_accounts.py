"""The administrators' pages of accounts."""

import pytest
from django.test import Client
from django.urls import reverse

from judgments.models import AuditEntry, User
from tests.builders import World, make_user
from tests.judgments.management.test_commands import run

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(world: World) -> Client:
    client = Client()
    client.force_login(make_user(username="root", is_superuser=True))
    return client


def act(client: Client, username: str, name: str) -> str:
    answer = client.post(reverse("account-act", args=[username, name]), follow=True)
    assert answer.status_code == 200
    return " ".join(str(message) for message in answer.context["messages"])


def test_accounts_are_found_by_name_and_state(admin: Client) -> None:
    def usernames(query: str) -> list[str]:
        page = admin.get(reverse("accounts") + query).context["page"]
        return [row.username for row in page.rows]

    assert {"ada", "ben", "root"} <= set(usernames(""))
    assert usernames("?q=BEN") == ["ben"]
    assert usernames("?q=ben@people.example") == ["ben"]
    assert usernames("?state=administrator") == ["root"]
    act(admin, "cem", "suspend")
    assert usernames("?state=suspended") == ["cem"]
    assert "cem" not in usernames("?state=active")
    assert "No matching accounts" in admin.get(reverse("accounts") + "?q=zzz").text


def test_an_account_is_suspended_and_reactivated(admin: Client, world: World) -> None:
    ben = Client()
    ben.force_login(world.ben)
    assert act(admin, "ben", "suspend") == "ben is suspended."
    assert ben.get(reverse("tokens")).status_code == 302
    assert act(admin, "ben", "suspend") == "ben is already suspended."
    assert act(admin, "ben", "resume") == "ben can sign in again."
    assert User.objects.get(username="ben").is_active


def test_suspending_the_only_lead_names_the_collections(admin: Client) -> None:
    assert act(admin, "ada", "suspend").endswith("no longer have an active lead: books.")


def test_administrators_come_and_go_but_one_stays(admin: Client) -> None:
    assert "last active administrator" in act(admin, "root", "remove-administrator")
    assert act(admin, "dora", "make-administrator") == "dora is an administrator."
    assert act(admin, "dora", "remove-administrator") == "dora is no longer an administrator."
    assert not User.objects.get(username="dora").is_superuser
    assert AuditEntry.objects.latest("pk").action == "account.removed_administrator"


def test_a_reset_link_is_shown_once_and_works(admin: Client, world: World) -> None:
    answer = admin.post(reverse("account-reset-link", args=["ben"]))
    link = answer.context["link"]
    assert link in answer.text
    assert answer.headers["Cache-Control"].startswith("max-age=0")
    assert link not in admin.get(reverse("account", args=["ben"])).text
    assert Client().get(link).status_code == 200


def test_an_unknown_action_and_an_unknown_account_are_not_found(admin: Client) -> None:
    assert admin.post(reverse("account-act", args=["ben", "explode"])).status_code == 404
    assert admin.post(reverse("account-act", args=["nobody", "suspend"])).status_code == 404
    assert admin.get(reverse("account", args=["nobody"])).status_code == 404


def test_the_menu_leads_administrators_to_the_accounts(admin: Client, world: World) -> None:
    assert reverse("accounts") in admin.get(reverse("tokens")).text
    ada = Client()
    ada.force_login(world.ada)
    assert reverse("accounts") not in ada.get(reverse("tokens")).text


def test_an_administrator_goes_and_sessions_end_by_command(capsys, world: World) -> None:
    make_user(username="root", is_superuser=True)
    assert run(capsys, "make_administrator", "dora") == (0, "", "")
    assert run(capsys, "remove_administrator", "dora") == (0, "", "")
    status, _, err = run(capsys, "remove_administrator", "root")
    assert (status, "last active administrator" in err) == (2, True)
    ben = Client()
    ben.force_login(world.ben)
    assert run(capsys, "end_sessions", "ben", "--tokens") == (0, "", "")
    assert ben.get(reverse("tokens")).status_code == 302


def test_a_reset_link_is_printed_by_command(capsys, world: World) -> None:
    status, out, _ = run(capsys, "reset_link", "ben")
    assert status == 0
    assert Client().get(out.strip()).status_code == 200
