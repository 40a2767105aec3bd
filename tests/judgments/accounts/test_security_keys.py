"""Security keys: added with a code, asked for at the sign-in, and worth nothing elsewhere."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from judgments.accounts.second_factor import reset_second_factor
from judgments.models import AuditEntry, SecurityKey, User
from tests.builders import NOW, World
from tests.judgments.accounts.soft_key import SoftKey
from tests.judgments.accounts.test_second_factor import (  # noqa: F401  (a fixture)
    code_of,
    is_in,
    set_up,
    with_password,
    world,
)

pytestmark = pytest.mark.django_db
ORIGIN = "http://testserver"


def add(user: User, code: str, *, origin: str = ORIGIN, name: str = "Blue") -> SoftKey:
    """Add a key on the page, with a code."""
    key, browser = SoftKey(), Client()
    browser.force_login(user)
    url = reverse("second-factor-change", args=["add-key"])
    page = browser.post(url, {"code": code, "name": name})
    assert page.context["challenge"], page.context["key_form"].errors
    answer = key.register(page.context["challenge"].options, origin)
    browser.post(reverse("security-key-add"), {"credential": answer})
    return key


@pytest.fixture
def key(world: World) -> SoftKey:  # noqa: F811
    set_up(world.ben)
    return add(world.ben, code_of(world.ben))


def asked(following: str = "") -> tuple[Client, str]:
    """A browser after the password, and what a key has to sign."""
    browser, sent = with_password("ben", following)
    return browser, browser.get(sent).context["challenge"].options


def test_a_key_signs_in_the_place_of_a_code(world: World, key: SoftKey) -> None:  # noqa: F811
    browser, options = asked()
    assert not is_in(browser)
    url = reverse("sign-in-key", query={"next": "/sessions"})
    answer = browser.post(url, {"credential": key.sign(options, ORIGIN)})
    assert answer["Location"] == "/sessions"
    assert is_in(browser)
    entry = AuditEntry.objects.filter(action="sign_in.succeeded").last()
    assert entry
    assert entry.after["by"] == "security key"
    stored = SecurityKey.objects.get()
    assert (stored.user, stored.name, stored.counter) == (world.ben, "Blue", 2)
    assert stored.used_at


def elsewhere(key: SoftKey, options: str) -> str:
    return key.sign(options, "https://forged.example")


def another_key(key: SoftKey, options: str) -> str:
    return SoftKey().sign(options, ORIGIN)


def copied(key: SoftKey, options: str) -> str:
    key.counter = 0
    return key.sign(options, ORIGIN)


def registering(key: SoftKey, options: str) -> str:
    return key.register(
        options.replace('"rpId": "testserver"', '"rp": {"id": "testserver"}'), ORIGIN
    )


def nonsense(key: SoftKey, options: str) -> str:
    return '{"id": []}'


def no_json(key: SoftKey, options: str) -> str:
    return "{"


@pytest.mark.parametrize("answer", [elsewhere, another_key, copied, registering, nonsense, no_json])
def test_any_other_answer_is_refused_and_logged(
    world: World,  # noqa: F811
    key: SoftKey,
    answer: Callable[[SoftKey, str], str],
) -> None:
    browser, options = asked()
    refused = browser.post(reverse("sign-in-key"), {"credential": answer(key, options)})
    assert refused["Location"] == reverse("sign-in-code")
    assert not is_in(browser)
    entry = AuditEntry.objects.filter(action="sign_in.failed").last()
    assert entry
    assert (entry.after["by"], entry.subject) == ("security key", "ben")


def test_an_answer_counts_once_and_for_its_own_challenge(world: World, key: SoftKey) -> None:  # noqa: F811
    browser, options = asked()
    answer = key.sign(options, ORIGIN)
    other, _ = asked()
    other.post(reverse("sign-in-key"), {"credential": answer})
    assert not is_in(other)  # it was asked something else
    browser.post(reverse("sign-in-key"), {"credential": answer})
    assert is_in(browser)
    again, _ = with_password("ben")
    again.post(reverse("sign-in-key"), {"credential": answer})
    assert not is_in(again)  # it was asked nothing
    stranger = Client().post(reverse("sign-in-key"), {"credential": answer})
    assert stranger["Location"] == reverse("login")


def test_a_key_without_a_counter_is_accepted_again_and_again(world: World) -> None:  # noqa: F811
    set_up(world.ben)
    key = add(world.ben, code_of(world.ben))
    SecurityKey.objects.update(counter=0)
    key.counter = None
    for _ in range(2):
        browser, options = asked()
        browser.post(reverse("sign-in-key"), {"credential": key.sign(options, ORIGIN)})
        assert is_in(browser)


def test_a_key_of_another_site_is_not_added(world: World) -> None:  # noqa: F811
    set_up(world.ben)
    add(world.ben, code_of(world.ben), origin="https://forged.example")
    assert SecurityKey.objects.count() == 0


def test_adding_and_removing_take_a_code(world: World, key: SoftKey) -> None:  # noqa: F811
    browser = Client()
    browser.force_login(world.ben)
    url = reverse("second-factor-change", args=["add-key"])
    page = browser.post(url, {"code": "000000", "name": "Red"})
    assert page.context["challenge"] is None
    assert page.context["key_form"].errors["code"]
    assert browser.post(reverse("security-key-add"), {"credential": "{}"}).status_code == 404
    remove = reverse("second-factor-change", args=["remove-key"])
    stored = SecurityKey.objects.get()
    browser.post(remove, {"code": "000000", "key": stored.pk})
    assert SecurityKey.objects.count() == 1
    other = Client()
    set_up(world.ada)
    other.force_login(world.ada)
    said = {"code": code_of(world.ada), "key": stored.pk}
    assert other.post(remove, said).status_code == 404  # not hers
    browser.post(remove, {"code": code_of(world.ben, steps=1), "key": stored.pk})
    assert SecurityKey.objects.count() == 0
    actions = AuditEntry.objects.filter(action__startswith="second_factor.key_")
    assert list(actions.values_list("action", flat=True)) == [
        "second_factor.key_added",
        "second_factor.key_removed",
    ]


def test_a_reset_removes_the_keys_too(world: World, key: SoftKey) -> None:  # noqa: F811
    reset_second_factor(user=world.ben, by=None, at=NOW)
    assert SecurityKey.objects.count() == 0
    assert is_in(with_password("ben")[0])
