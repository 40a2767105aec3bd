"""The frame of the permission table: every address, every role, and what must come back.

Each app has a module beside this one with its `ROWS`; tests/architecture/test_permissions_table.py
gathers them, asks every row as every role, and fails for an address without a row.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.builders import World

ROLES = ("anonymous", "annotator", "researcher", "lead", "stranger", "admin")
TO_LOGIN = 302


@dataclass(frozen=True, kw_only=True)
class Row:
    """One address and method, and the status that each role gets.

    name: the URL's name. path: its arguments, made from the world (make what it needs there).
    A role that is not named gets 404, anonymous is sent to sign in.
    stranger: the lead of another collection. admin: a superuser who is no member.
    """

    name: str
    path: Callable[[World], dict[str, Any]] = field(default=lambda world: {})
    method: str = "get"
    data: dict[str, Any] = field(default_factory=dict)
    query: str = ""
    content_type: str = ""
    anonymous: int = TO_LOGIN
    annotator: int = 404
    researcher: int = 404
    lead: int = 404
    stranger: int = 404
    admin: int = 404

    def __str__(self) -> str:
        return f"{self.method} {self.name}{self.query and '?' + self.query}"


def everybody(name: str, status: int = 200, **more: Any) -> Row:
    """Everyone who is signed in."""
    roles = dict.fromkeys(("annotator", "researcher", "lead", "stranger", "admin"), status)
    return Row(name=name, **(roles | more))


def readers(name: str, status: int = 200, **more: Any) -> Row:
    """Researchers and leads of the collection, and admins, who read everything."""
    return Row(name=name, researcher=status, lead=status, admin=status, **more)


def leads(name: str, status: int = 200, **more: Any) -> Row:
    """Leads of the collection alone."""
    return Row(name=name, lead=status, **more)


def managers(name: str, status: int = 200, **more: Any) -> Row:
    """Leads of the collection and admins: people and the audit log."""
    return Row(name=name, lead=status, admin=status, **more)
