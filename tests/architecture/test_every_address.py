"""Every address answers on PostgreSQL too, which refuses statements that SQLite lets pass."""

from typing import Any

import pytest

from tests.architecture.asking import ROWS, ask, client_of, undone
from tests.permissions.table import ROLES, Row

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def test_each_row_of_the_permission_table_answers(world):
    """The first role that is not refused asks; what it did is undone before the next row.

    What rows of the same path need is made once for all of them.
    """
    clients = {role: client_of(world, role) for role in ROLES}
    rows_of_paths: dict[Any, list[Row]] = {}
    for row in ROWS:
        rows_of_paths.setdefault(row.path, []).append(row)
    wrong = []
    for path, rows in rows_of_paths.items():
        with undone(world):
            arguments = path(world)
            for row in rows:
                role = min(ROLES, key=lambda role: getattr(row, role))
                with undone(world):
                    status = ask(clients[role], row, arguments).status_code
                if status != getattr(row, role):
                    wrong.append(f"{row} as {role}: {status}")
    assert "\n".join(wrong) == ""
