"""Every address answers on PostgreSQL too, which refuses statements that SQLite lets pass."""

import pytest
from django.db import transaction

from tests.architecture.asking import ROWS, ask, client_of
from tests.permissions.table import ROLES

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def test_each_row_of_the_permission_table_answers(world):
    """The first role that is not refused asks; what it did is undone before the next row."""
    clients = {role: client_of(world, role) for role in ROLES}
    wrong = []
    for row in ROWS:
        role = min(ROLES, key=lambda role: getattr(row, role))
        with transaction.atomic():
            status = ask(clients[role], row, row.path(world)).status_code
            transaction.set_rollback(True)
        if status != getattr(row, role):
            wrong.append(f"{row} as {role}: {status}")
    assert "\n".join(wrong) == ""
