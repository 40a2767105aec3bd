"""Who gets what of what machines ask, and of the accounts."""

from config.accounts.views import ACTS
from tests.builders import World
from tests.permissions.table import Row, everybody


def ben(world: World) -> dict[str, object]:
    return {"username": world.ben.username}


ROWS = [
    everybody("healthz", anonymous=200),
    everybody("healthz", 405, method="post", anonymous=405),
    everybody("readyz", anonymous=200),
    everybody("readyz", 405, method="post", anonymous=405),
    # where the demo's search server does not run, no one finds it
    Row(name="demo-search", path=lambda world: {"act": "break"}, method="post"),
    # without the token that the operator chose, no user finds it
    everybody("csp-reports", 204, method="post", anonymous=204),
    Row(name="metrics", anonymous=404),
    Row(name="accounts", admin=200),
    Row(name="database-sizes", admin=200),
    Row(name="account", path=ben, admin=200),
    Row(name="account-reset-link", path=ben, method="post", admin=200),
    everybody("account-reset-link", 405, path=ben),
    everybody("kept"),
    everybody("kept-file"),
    Row(name="account-kept", path=ben, admin=200),
    Row(name="account-erase", path=ben, admin=200),
    Row(name="account-erase", path=ben, method="post", data={"username": "BEN"}, admin=302),
    *(
        Row(
            name="account-act",
            path=lambda world, act=act: ben(world) | {"act": act},  # type: ignore[misc]
            method="post",
            admin=302,
        )
        for act in ACTS
    ),
    Row(name="account-act", path=lambda world: ben(world) | {"act": "explode"}, method="post"),
]
