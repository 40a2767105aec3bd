"""Two-step sign-in: set up, asked for, limited, required by role, and reset."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from judgments.accounts.second_factor import (
    MOST_FAILURES,
    WAIT,
    CodeRefused,
    begin_set_up,
    check_code,
    confirm_set_up,
)
from judgments.accounts.tokens import create_token
from judgments.accounts.totp import STEP, code_at
from judgments.models import AuditEntry, RecoveryCode, SecondFactor, Secret, Session, User
from judgments.secrets.services import read_secret
from tests.builders import NOW, World, make_user, make_world

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]
PASSWORD = "sturdy-otter-42-lamp"


@pytest.fixture
def world(settings: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> World:
    settings.HOME = tmp_path  # its encryption key
    moment = timezone.now()  # which stands still: no code grows old within a test
    monkeypatch.setattr(timezone, "now", lambda: moment)
    world = make_world()
    for user in (world.ada, world.ben):
        user.set_password(PASSWORD)
        user.save(update_fields=["password"])
    return world


def secret_of(user: User) -> str:
    secret = SecondFactor.objects.get(user=user).secret
    return read_secret(secret=secret, origin=f"second-factor:{user.public_id}")


def code_of(user: User, *, steps: int = 0) -> str:
    """What the app shows now, or so many steps later."""
    return code_at(secret_of(user), int(timezone.now().timestamp()) // STEP + steps)


def set_up(user: User) -> list[str]:
    """Turn it on a minute ago, so that the code of now is not used."""
    at = timezone.now() - timedelta(seconds=3 * STEP)
    begin_set_up(user=user, at=at)
    code = code_at(secret_of(user), int(at.timestamp()) // STEP)
    return confirm_set_up(user=user, code=code, at=at)


def with_password(username: str, following: str = "") -> tuple[Client, str]:
    """A browser after the password, and where it was sent."""
    client = Client()
    said = {"username": username, "password": PASSWORD, "next": following}
    return client, client.post(reverse("login"), said)["Location"]


def is_in(client: Client) -> bool:
    return client.get(reverse("tokens")).status_code == 200


def test_it_is_set_up_with_an_app_and_then_asked_for(world: World) -> None:
    here, elsewhere = with_password("ben")[0], with_password("ben")[0]
    here.post(reverse("second-factor-begin"))
    page = here.get(reverse("second-factor"))
    assert "data:image/svg+xml" in page.text
    assert secret_of(world.ben) == page.context["page"].set_up.key.replace(" ", "")
    assert is_in(with_password("ben")[0])  # not asked for until a code was right
    wrong = here.post(reverse("second-factor"), {"code": "000000"})
    assert wrong.context["form"].errors["code"]
    assert RecoveryCode.objects.count() == 0
    done = here.post(reverse("second-factor"), {"code": code_of(world.ben, steps=-1)})
    codes = done.context["codes_shown"]
    assert len(set(codes)) == 10
    assert all(code in done.text for code in codes)
    assert not any(code in here.get(reverse("second-factor")).text for code in codes)
    assert (is_in(here), is_in(elsewhere)) == (True, False)
    browser, sent = with_password("ben", "/sessions")
    assert sent == "/login/code?next=%2Fsessions"
    assert not is_in(browser)
    answer = browser.post(sent, {"code": code_of(world.ben)})
    assert answer["Location"] == "/sessions"
    assert is_in(browser)
    # the code was used, and is worth nothing to a person who looked on
    browser, sent = with_password("ben")
    assert browser.post(sent, {"code": code_of(world.ben)}).status_code == 200
    assert not is_in(browser)


def test_the_secret_is_encrypted_and_recovery_codes_are_hashed(world: World) -> None:
    codes = set_up(world.ben)
    stored = Secret.objects.get().ciphertext
    assert secret_of(world.ben) not in stored
    hashes = set(RecoveryCode.objects.values_list("code_hash", flat=True))
    assert hashes.isdisjoint(code.replace("-", "") for code in codes)


def test_a_recovery_code_signs_in_once_also_without_the_encryption_key(
    world: World, settings: Any
) -> None:
    code, *_ = set_up(world.ben)
    settings.ENCRYPTION_KEYS = ["another key of enough characters, which decrypts nothing"]
    signed_in = []
    for _ in range(2):
        browser, sent = with_password("ben")
        browser.post(sent, {"code": f" {code.upper()} "})
        signed_in.append(is_in(browser))
    assert signed_in == [True, False]
    assert RecoveryCode.objects.count() == 9


def test_no_one_gets_to_the_code_without_the_password_or_long_after_it(world: World) -> None:
    set_up(world.ben)
    assert Client().get(reverse("sign-in-code"))["Location"] == reverse("login")
    late, sent = with_password("ben")
    store = late.session
    store["half_signed_in"] = [*store["half_signed_in"][:2], 0]
    store.save()
    assert late.post(sent, {"code": code_of(world.ben)})["Location"] == reverse("login")
    changed, sent = with_password("ben")
    world.ben.set_password("another-sturdy-otter")
    world.ben.save(update_fields=["password"])
    assert changed.post(sent, {"code": code_of(world.ben)})["Location"] == reverse("login")
    assert not Session.objects.filter(user=world.ben).exists()


def test_after_ten_wrong_codes_even_a_right_one_waits_a_quarter_of_an_hour(world: World) -> None:
    code, *_ = set_up(world.ben)
    for _ in range(MOST_FAILURES):
        with pytest.raises(CodeRefused, match="Wrong code"):
            check_code(user=world.ben, code="0" * 16, at=NOW)
    with pytest.raises(CodeRefused, match="Too many"):
        check_code(user=world.ben, code=code, at=NOW)
    assert AuditEntry.objects.filter(action="second_factor.locked").count() == 1
    check_code(user=world.ben, code=code, at=NOW + WAIT)
    assert SecondFactor.objects.get().failures == 0


@pytest.mark.parametrize("code", ["", "1", "²²²²²²", "١٢٣٤٥٦", "0" * 41, "abc-def"])
def test_what_is_no_code_is_refused(world: World, code: str) -> None:
    set_up(world.ben)
    browser, sent = with_password("ben")
    assert browser.post(sent, {"code": code}).status_code == 200
    assert not is_in(browser)


def test_its_owner_renews_recovery_codes_and_turns_it_off_with_a_code(world: World) -> None:
    first, second, *_ = set_up(world.ben)
    client = Client()
    client.force_login(world.ben)
    for act in ("codes", "off"):
        address = reverse("second-factor-change", args=[act])
        assert client.post(address, {"code": "000000"}).context["form"].errors["code"]
    made = client.post(reverse("second-factor-change", args=["codes"]), {"code": first})
    (code, *_) = made.context["codes_shown"]
    off = reverse("second-factor-change", args=["off"])
    assert client.post(off, {"code": second}).context["form"].errors["code"]
    assert client.post(off, {"code": code}).status_code == 302
    assert not (SecondFactor.objects.exists())
    assert not (RecoveryCode.objects.exists())
    assert not Secret.objects.exists()
    assert is_in(with_password("ben")[0])
    actions = AuditEntry.objects.filter(action__startswith="second_factor").order_by("pk")
    assert [entry.action.partition(".")[2] for entry in actions] == [
        "turned_on",
        "codes_renewed",
        "turned_off",
    ]


def test_a_role_that_requires_it_is_asked_before_anything_else(world: World, settings: Any) -> None:
    settings.SECOND_FACTOR_ROLES = ["lead"]
    lead, annotator = with_password("ada")[0], with_password("ben")[0]
    assert is_in(annotator)
    for name in ("home", "tokens", "sessions", "password"):
        assert lead.get(reverse(name))["Location"] == reverse("second-factor")
    refused = lead.get("/api/v1/collections/")
    assert (refused.status_code, refused.json()["code"]) == (403, "second_factor_required")
    # an API token is for scripts
    _, text = create_token(by=world.ada, name="ci", scope="read", days=7, at=timezone.now())
    script = Client(headers={"Authorization": f"Bearer {text}"})
    assert script.get("/api/v1/collections/").status_code == 200
    lead.post(reverse("second-factor-begin"))
    lead.post(reverse("second-factor"), {"code": code_of(world.ada, steps=-1)})
    assert is_in(lead)
    off = lead.post(reverse("second-factor-change", args=["off"]), {"code": code_of(world.ada)})
    assert "requires" in str(off.context["form"].errors["code"])
    again, sent = with_password("ada")
    again.post(sent, {"code": code_of(world.ada)})
    assert is_in(again)


def test_an_administrator_resets_it_and_the_person_is_signed_out(world: World) -> None:
    set_up(world.ben)
    browser, sent = with_password("ben")
    browser.post(sent, {"code": code_of(world.ben)})
    assert is_in(browser)
    admin = Client()
    admin.force_login(make_user(username="root", is_superuser=True))
    assert "two-step" in admin.get(reverse("account", args=["ben"])).text
    admin.post(reverse("account-act", args=["ben", "reset-second-factor"]))
    entry = AuditEntry.objects.get(action="second_factor.reset")
    assert (entry.actor and entry.actor.username, entry.subject) == ("root", "ben")
    assert not is_in(browser)
    assert is_in(with_password("ben")[0])


def test_a_command_resets_it(world: World, capsys: Any) -> None:
    set_up(world.ben)
    for changed in ("true", "false"):
        call_command("reset_second_factor", "BEN", "--json")
        assert f'"changed": {changed}' in capsys.readouterr().out
