"""The settings as a process meets them: with an environment of its own."""

import os
import secrets
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KEY = secrets.token_urlsafe(64)
PRODUCTION = {
    "TOUCHSTONE_MODE": "production",
    "TOUCHSTONE_SECRET_KEY": KEY,
    "TOUCHSTONE_HOSTS": "labels.example.org",
    "DATABASE_URL": "postgres://touchstone@127.0.0.1/touchstone",
    "REDIS_URL": "redis://127.0.0.1:6379/0",
}
OURS = ("TOUCHSTONE_", "DATABASE_URL", "REDIS_URL")


def manage(home: Path, variables: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """A management command that sees these variables of ours, and no others."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={**outside, "TOUCHSTONE_HOME": str(home), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_production_has_nothing_to_be_warned_of(tmp_path: Path) -> None:
    result = manage(tmp_path, PRODUCTION, "check", "--deploy", "--fail-level", "WARNING")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("name", sorted(PRODUCTION.keys() - {"TOUCHSTONE_MODE"}))
def test_production_does_not_start_without(name: str, tmp_path: Path) -> None:
    left = {key: value for key, value in PRODUCTION.items() if key != name}
    result = manage(tmp_path, left, "check")
    assert result.returncode != 0
    assert f"ImproperlyConfigured: {name} must" in result.stderr


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("TOUCHSTONE_MODE", "staging", "use embedded or production"),
        ("TOUCHSTONE_SECRET_KEY", "short", "at least 50 characters"),
        ("DATABASE_URL", "mysql://root@127.0.0.1/touchstone", "sqlite:// or postgres://"),
        ("TOUCHSTONE_THROTTLE", "-1", "0 or more"),
        ("TOUCHSTONE_COLLECTIONS", "nobody", "use everyone or administrators"),
        ("TOUCHSTONE_SESSION_IDLE", "0", "from 1 to 8760 hours, not 0"),
        ("TOUCHSTONE_SESSION_LIFETIME", "9000", "from 1 to 8760 hours, not 9000"),
        ("TOUCHSTONE_TOKEN_DAYS", "-1", "from 1 to 365 days, not -1"),
        ("DATABASE_URL", "touchstone.sqlite3", "sqlite:// or postgres://"),
        ("TOUCHSTONE_CURRENCY", "euro", "three letters"),
        ("TOUCHSTONE_SECOND_FACTOR", "lead,owner", "has 'owner'"),
        ("TOUCHSTONE_MAIL", "http://mail.example", "begin with smtp://"),
        ("TOUCHSTONE_MAIL", "smtp://mail.example", "TOUCHSTONE_MAIL_FROM must be"),
        ("TOUCHSTONE_ENCRYPTION_KEYS", "short", "at least 32 characters"),
        ("TOUCHSTONE_DATA_SETS", "srv/lake", "srv/lake: an absolute path"),
        ("TOUCHSTONE_OUTGOING", "https://a.example,b.example", "'b.example' is not scheme, host"),
        ("TOUCHSTONE_OUTGOING", "http://a.example=0.0.0.0/0", "not part of a loopback or private"),
    ],
)
def test_a_value_that_makes_no_sense_is_named(
    name: str, value: str, said: str, tmp_path: Path
) -> None:
    result = manage(tmp_path, {name: value}, "check")
    assert result.returncode != 0
    assert name in result.stderr
    assert said in result.stderr


@pytest.mark.parametrize(("https", "prefix"), [("true", "__Host-"), ("false", "")])
def test_cookies_are_bound_to_this_host_over_https(https: str, prefix: str, tmp_path: Path) -> None:
    show = (
        "from django.conf import settings as s; print(s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME, "
        "s.SESSION_COOKIE_SECURE and s.CSRF_COOKIE_SECURE, s.SESSION_COOKIE_DOMAIN, "
        "s.CSRF_COOKIE_DOMAIN, s.SESSION_COOKIE_PATH, s.CSRF_COOKIE_PATH)"
    )
    result = manage(tmp_path, {"TOUCHSTONE_HTTPS": https}, "shell", "-v0", "-c", show)
    names = f"{prefix}sessionid {prefix}csrftoken"
    assert result.stdout == f"{names} {https == 'true'} None None / /\n", result.stderr


def test_embedded_makes_a_key_once_and_keeps_it_private(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert manage(home, {}, "check").returncode == 0
    key = home / "secret_key"
    made = key.read_text()
    assert len(made) >= 50
    assert key.stat().st_mode & 0o777 == 0o600
    assert manage(home, {}, "check").returncode == 0
    assert key.read_text() == made


def test_processes_that_start_at_once_agree_on_the_key(tmp_path: Path) -> None:
    show = "from django.conf import settings; print(settings.SECRET_KEY)"
    with ThreadPoolExecutor(4) as pool:
        started = [pool.submit(manage, tmp_path, {}, "shell", "-v0", "-c", show) for _ in range(4)]
    keys = {one.result().stdout for one in started}
    assert keys == {(tmp_path / "secret_key").read_text() + "\n"}
    assert [path.name for path in tmp_path.glob("secret_key*")] == ["secret_key"]


@pytest.mark.parametrize("name", ["DATABASE_URL", "REDIS_URL", "TOUCHSTONE_SECRET_KEY"])
def test_an_empty_variable_counts_as_not_given(name: str, tmp_path: Path) -> None:
    result = manage(tmp_path, {name: ""}, "check")
    assert result.returncode == 0, result.stderr


def test_nobody_else_on_the_machine_reads_the_embedded_database(tmp_path: Path) -> None:
    home = tmp_path / "home"
    result = manage(home, {}, "showmigrations", "judgments")
    assert result.returncode == 0, result.stderr
    modes = {path.name: path.stat().st_mode & 0o777 for path in (home, *home.iterdir())}
    assert modes["home"] == 0o700
    assert modes["touchstone.sqlite3"] == 0o600
    assert modes["secret_key"] == 0o600
