"""Who gets what of what machines ask."""

from tests.permissions.table import Row, everybody

ROWS = [
    everybody("healthz", anonymous=200),
    everybody("healthz", 405, method="post", anonymous=405),
    everybody("readyz", anonymous=200),
    everybody("readyz", 405, method="post", anonymous=405),
    # without the token that the operator chose nobody finds it, whoever they are
    Row(name="metrics", anonymous=404),
]
