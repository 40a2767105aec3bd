"""Whose token goes to which server, and where it is kept."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from touchstone.client.credentials import (
    base_url,
    find_credentials,
    https_advice,
    save_credentials,
    saved_path,
)
from touchstone.client.errors import ClientUsageError

URL = "https://touchstone.example"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user who has nothing set or saved, on a machine without a keyring."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("TOUCHSTONE_URL", raising=False)
    monkeypatch.delenv("TOUCHSTONE_TOKEN", raising=False)
    monkeypatch.setitem(sys.modules, "keyring", None)
    return tmp_path


def test_without_a_server_it_says_how_to_name_one() -> None:
    with pytest.raises(ClientUsageError, match="TOUCHSTONE_URL"):
        find_credentials()


def test_what_was_saved_is_found_again_by_its_owner_alone(folder: Path) -> None:
    assert save_credentials(URL, "secret") == str(folder / "touchstone" / "login.json")
    assert saved_path().stat().st_mode & 0o777 == 0o600
    found = find_credentials()
    assert (found.url, found.token) == (URL, "secret")
    assert "secret" not in repr(found)
    save_credentials(URL, "other")
    assert find_credentials().token == "other"
    assert [path.name for path in saved_path().parent.iterdir()] == ["login.json"]


def test_a_file_that_others_can_read_is_not_used() -> None:
    save_credentials(URL, "secret")
    saved_path().chmod(0o644)
    with pytest.raises(ClientUsageError, match="chmod 600"):
        find_credentials()


def test_a_spoiled_file_is_named() -> None:
    save_credentials(URL, "secret")
    saved_path().write_text("{")
    with pytest.raises(ClientUsageError, match="touchstone login"):
        find_credentials()


def test_the_environment_wins_over_the_file_and_an_argument_over_both(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    save_credentials(URL, "saved")
    monkeypatch.setenv("TOUCHSTONE_TOKEN", " given\n")
    assert find_credentials().token == "given"
    assert find_credentials(token="own").token == "own"
    monkeypatch.setenv("TOUCHSTONE_URL", "https://other.example")
    assert find_credentials().url == "https://other.example"
    assert find_credentials(URL).url == URL


def test_a_saved_token_goes_to_its_own_server_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    save_credentials(URL, "saved")
    assert find_credentials("https://other.example").token is None
    monkeypatch.setenv("TOUCHSTONE_URL", "http://touchstone.example")
    assert find_credentials().token is None


def test_a_keyring_keeps_the_token_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[tuple[str, str], str] = {}
    ring = SimpleNamespace(
        set_password=lambda service, user, token: kept.update({(service, user): token}),
        get_password=lambda service, user: kept.get((service, user)),
    )
    monkeypatch.setitem(sys.modules, "keyring", ring)
    assert save_credentials(URL, "secret") == "the keyring"
    assert "secret" not in saved_path().read_text()
    assert find_credentials().token == "secret"


def test_a_keyring_that_fails_leaves_the_token_to_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: str) -> None:
        raise RuntimeError("there is no desktop")

    broken = SimpleNamespace(set_password=fail, get_password=fail)
    monkeypatch.setitem(sys.modules, "keyring", broken)
    assert save_credentials(URL, "secret") == str(saved_path())
    assert find_credentials().token == "secret"


@pytest.mark.parametrize("text", [f"{URL}/", f"{URL}/api/v1/", f" {URL}/api/v1\n"])
def test_an_address_may_name_the_interface(text: str) -> None:
    assert base_url(text) == URL


def test_a_server_may_lie_below_a_path() -> None:
    assert (
        base_url("https://example.org/tools/touchstone/") == "https://example.org/tools/touchstone"
    )


@pytest.mark.parametrize(
    "text", ["touchstone.example", "ftp://x", "file:///etc/passwd", "https://", "https://a:b@c"]
)
def test_what_is_no_servers_address_is_refused(text: str) -> None:
    with pytest.raises(ClientUsageError):
        base_url(text)


def test_only_an_address_on_the_way_without_https_is_advised_against() -> None:
    assert https_advice(URL) is None
    assert https_advice("http://127.0.0.1:8000") is None
    assert "https://" in str(https_advice("http://touchstone.example"))
