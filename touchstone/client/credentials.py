"""Which server, and by whose token: from the call, the environment, or what `login` has saved."""

import json
import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from touchstone.client.errors import ClientUsageError

KEYRING_SERVICE: Final = "touchstone"
LOOPBACK: Final = frozenset(("127.0.0.1", "::1", "localhost"))


@dataclass(frozen=True)
class Credentials:
    """url: of the server, without a slash at its end. token: None where there is none."""

    url: str
    token: str | None = field(repr=False)


def find_credentials(url: str | None = None, token: str | None = None) -> Credentials:
    """The server and token to use: arguments, else `TOUCHSTONE_URL` and `TOUCHSTONE_TOKEN`, else
    what `touchstone login` saved. A saved token is for its own server alone.

    Raises ClientUsageError where no server is named, or its address is none.
    """
    saved = _read_saved()
    named = url or os.environ.get("TOUCHSTONE_URL") or saved.get("url")
    if not named:
        raise ClientUsageError(
            "no server given: set TOUCHSTONE_URL, or run `touchstone login --url https://…`"
        )
    address = base_url(named)
    own = token or os.environ.get("TOUCHSTONE_TOKEN")
    if not own and address == saved.get("url"):
        own = saved.get("token") or _from_keyring(address)
    return Credentials(address, own.strip() if own else None)


def base_url(text: str) -> str:
    """A server's address without `/api/v1` and a slash at its end. Raises ClientUsageError."""
    parts = urlsplit(text.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ClientUsageError(f"{text!r} is not an address like https://touchstone.example")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ClientUsageError("the server's URL must not contain a password or a query")
    return parts._replace(path=parts.path.rstrip("/").removesuffix("/api/v1")).geturl()


def https_advice(url: str) -> str | None:
    """Why this address is unsafe for a token; None for https, and on this machine."""
    parts = urlsplit(url)
    if parts.scheme == "https" or parts.hostname in LOOPBACK:
        return None
    return f"{url} is not encrypted: anyone on the network can read the token. Use https://"


def save_credentials(url: str, token: str) -> str:
    """Save them; where the token is now: the machine's keyring, or else a file (mode 0600).

    The keyring is used where the package `keyring` is installed and has a place to write to.
    """
    path = saved_path()
    saved = {"url": url}
    where = "the keyring" if _to_keyring(url, token) else str(path)
    if where == str(path):
        saved["token"] = token
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    partial = path.with_suffix(f".{os.getpid()}")
    # made with its mode, so that there is no moment at which others can read it
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(saved, file)
    partial.replace(path)
    return where


def saved_path() -> Path:
    """Where `login` saves: in the user's folder of settings."""
    folder = os.environ.get("XDG_CONFIG_HOME")
    return (Path(folder) if folder else Path.home() / ".config") / "touchstone" / "login.json"


def _read_saved() -> dict[str, str]:
    path = saved_path()
    try:
        mode = path.stat().st_mode
        result = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        return {}
    except ValueError:
        raise ClientUsageError(f"{path} can't be read: run `touchstone login` again") from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ClientUsageError(f"{path} is readable by others: run chmod 600 on it")
    return result if isinstance(result, dict) else {}


def _keyring() -> Any:
    with suppress(ImportError):
        return import_module("keyring")
    return None


def _from_keyring(url: str) -> str | None:
    if keyring := _keyring():
        with suppress(Exception):  # each backend has errors of its own, some none of keyring's
            result = keyring.get_password(KEYRING_SERVICE, url)
            return result if isinstance(result, str) else None
    return None


def _to_keyring(url: str, token: str) -> bool:
    if keyring := _keyring():
        with suppress(Exception):  # without a desktop there is none to write to
            keyring.set_password(KEYRING_SERVICE, url, token)
            return bool(keyring.get_password(KEYRING_SERVICE, url) == token)
    return False
