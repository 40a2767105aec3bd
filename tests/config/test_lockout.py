"""Where a request comes from, and what counts as the same account and the same address."""

import pytest
from axes.models import AccessAttempt
from django.test import Client, RequestFactory
from django.urls import reverse

from config.lockout import client_address
from judgments.models import User
from tests.builders import make_user

BACKEND = "django.contrib.auth.backends.ModelBackend"
PASSWORD = "a long enough password"
PROXY = "10.1.2.3"


@pytest.fixture
def ada(db: None) -> User:
    user = make_user(username="ada")
    user.set_password(PASSWORD)
    user.save()
    return user


def address(forwarded: str | None, remote: str = PROXY) -> str | None:
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    return client_address(RequestFactory().get("/login", headers=headers, REMOTE_ADDR=remote))


@pytest.mark.parametrize(
    ("forwarded", "expected"),
    [
        ("192.0.2.9", "192.0.2.9"),
        ("192.0.2.9:51234", "192.0.2.9"),
        (" 203.0.113.1, 192.0.2.9 ", "192.0.2.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("[2001:db8:1:2:3:4:5:6]", "2001:db8:1:2::"),
        ("[2001:db8:1:2:3:4:5:6]:443", "2001:db8:1:2::"),
        ('"[2001:db8:1:2::9]:443"', "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("::ffff:192.0.2.9", "192.0.2.9"),
        ("", PROXY),
        (None, PROXY),
        ("unknown", PROXY),
        ("_hidden", PROXY),
        ("192.0.2.999", PROXY),
        ("192.0.2.9:x", PROXY),
        ("[2001:db8::1", PROXY),
        ("[]:443", PROXY),
        ("192.0.2.9, ", PROXY),
        ("1" * 5_000, PROXY),
        ("\x00", PROXY),
        ("٣.٣.٣.٣", PROXY),
    ],
)
def test_the_address_in_x_forwarded_for_is_parsed_or_left_out(
    settings, forwarded: str | None, expected: str
) -> None:
    settings.BEHIND_PROXY = True
    assert address(forwarded) == expected


def test_without_a_proxy_the_header_counts_for_nothing() -> None:
    assert address("192.0.2.9") == PROXY


def test_as_many_proxies_are_trusted_as_are_configured(settings) -> None:
    settings.BEHIND_PROXY, settings.PROXY_COUNT = True, 2
    assert address("198.51.100.1, 192.0.2.9, 10.9.9.9") == "192.0.2.9"
    # past the outer proxy: no one vouches for what it says
    assert address("192.0.2.9") == PROXY


def test_a_socket_without_an_address_is_no_error() -> None:
    assert address(None, remote="") is None


@pytest.mark.django_db
@pytest.mark.parametrize(
    "forwarded", ["192.0.2.9:51234", "[2001:db8::1]:443", "unknown", "a" * 300, "\x00"]
)
def test_no_x_forwarded_for_makes_a_login_fail_with_an_error(
    client: Client, settings, ada: User, forwarded: str
) -> None:
    settings.BEHIND_PROXY = True
    headers = {"X-Forwarded-For": forwarded}
    for password, status in (("wrong", 200), (PASSWORD, 302)):
        form = {"username": "ada", "password": password}
        assert client.post(reverse("login"), form, headers=headers).status_code == status


@pytest.mark.django_db
def test_a_login_over_a_socket_without_an_address_is_counted(
    client: Client, settings, ada: User
) -> None:
    settings.AXES_FAILURE_LIMIT = 2
    assert [sign_in(client, "ada", "wrong", "") for _ in range(3)] == [200, 429, 429]


def sign_in(client: Client, username: str, password: str, remote: str = "192.0.2.1") -> int:
    form = {"username": username, "password": password}
    return client.post(reverse("login"), form, REMOTE_ADDR=remote).status_code


@pytest.mark.django_db
def test_addresses_of_one_ipv6_network_are_counted_together(
    client: Client, settings, ada: User
) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    tried = [sign_in(client, "ada", "wrong", f"2001:db8:1:2::{n}") for n in range(3)]
    assert tried == [200, 200, 429]
    assert sign_in(client, "ada", PASSWORD, "2001:db8:1:2:ffff::1") == 429
    assert sign_in(client, "ada", PASSWORD, "2001:db8:1:3::1") == 302


@pytest.mark.django_db
def test_an_ipv6_network_that_tries_many_accounts_is_locked_out_as_a_whole(
    client: Client, settings, ada: User
) -> None:
    settings.LOCKOUT_ADDRESS_LIMIT = 3
    tried = [sign_in(client, f"guess{n}", "wrong", f"2001:db8:1:2::{n}") for n in range(3)]
    assert tried == [200] * 3
    assert sign_in(client, "ada", PASSWORD, "2001:db8:1:2::9") == 429


@pytest.mark.django_db
def test_spellings_of_one_user_name_share_their_attempts(
    client: Client, settings, ada: User
) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    tried = [sign_in(client, name, "wrong") for name in ("ada", "ADA", "ａｄａ")]
    assert tried == [200, 200, 429]
    assert sign_in(client, "Ada", PASSWORD) == 429


def change(client: Client, old: str, new: str = "another fine password") -> int:
    form = {"old_password": old, "new_password1": new, "new_password2": new}
    return client.post(reverse("password"), form, REMOTE_ADDR="192.0.2.1").status_code


@pytest.mark.django_db
def test_wrong_old_passwords_are_counted_with_those_of_the_sign_in(
    client: Client, settings, ada: User
) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    client.force_login(ada, backend=BACKEND)
    assert sign_in(Client(), "ada", "wrong") == 200
    assert [change(client, "wrong") for _ in range(3)] == [200, 429, 429]
    assert change(client, PASSWORD) == 429
    assert sign_in(Client(), "ada", PASSWORD) == 429
    ada.refresh_from_db()
    assert ada.check_password(PASSWORD)


@pytest.mark.django_db
def test_a_changed_password_forgets_earlier_mistakes(client: Client, ada: User) -> None:
    client.force_login(ada, backend=BACKEND)
    assert change(client, "wrong") == 200
    assert change(client, PASSWORD) == 302
    assert not AccessAttempt.objects.exists()


@pytest.mark.django_db
def test_no_password_of_a_refused_change_is_kept(client: Client, ada: User) -> None:
    client.force_login(ada, backend=BACKEND)
    assert change(client, "a wrong old one", "the brand new one") == 200
    kept = str(AccessAttempt.objects.values().get())
    assert "a wrong old one" not in kept
    assert "the brand new one" not in kept
