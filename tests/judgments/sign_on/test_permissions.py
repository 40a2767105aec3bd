"""Sign-on's addresses × every role: the permission table, where sign-on is configured."""

from dataclasses import replace

import pytest

from judgments.accounts.signing_in import SIGNED_ON
from judgments.models import AuditEntry
from tests.architecture.asking import ask, client_of
from tests.builders import make_world
from tests.judgments.sign_on.conftest import Desk
from tests.permissions.table import ROLES, Row, everybody

pytestmark = [
    pytest.mark.first_pass,
    pytest.mark.xdist_group("sign-on"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of what the provider is built on
]
ROWS = [
    # to the provider, or home for users who are signed in
    everybody("sign-on", 302),
    # without an answer of the provider's, back to the sign-in page
    everybody("openid_connect_callback", 302),
]
OTHER_METHODS = ("post", "put", "patch", "delete")


def test_every_address_of_sign_on_has_a_row(desk: Desk) -> None:
    from judgments.sign_on.urls import urlpatterns  # can't be imported where it is off

    assert {pattern.name for pattern in urlpatterns} == {row.name for row in ROWS}


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_everyone_is_sent_on_and_no_one_is_signed_in(desk: Desk, row: Row) -> None:
    world = make_world()
    told = {}
    for role in ROLES:
        client = client_of(world, role)
        before = client.session.get("_auth_user_id")
        told[role] = ask(client, row, {}).status_code
        assert client.session.get("_auth_user_id") == before
        # a session with a password does not become the provider's by asking
        assert SIGNED_ON not in client.session
        assert not AuditEntry.objects.filter(action="sign_in.succeeded").exists()
        for method in OTHER_METHODS:
            assert ask(client, replace(row, method=method), {}).status_code == 405
    assert told == {role: getattr(row, role) for role in ROLES}
