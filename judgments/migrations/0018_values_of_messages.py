"""Messages about pauses and deadlines hold values, not English sentences."""

import re
from typing import Any

from django.db import migrations


def _number(text: str) -> int:
    return int(re.sub(r"\D", "", text) or 0)


def _values(row: Any) -> dict[str, Any] | None:
    """The payload of today; None for what has no sentence, or has ended."""
    old = dict(row.payload)
    if row.kind == "paused" and "words" in old:
        words, who = old.pop("words"), old.pop("who")
        if who == "you are":
            return old | {"reason": words}
        right, checks, below = (int(number) for number in re.findall(r"\d+", words)[-3:])
        person = {"variant": "leads", "person": who.removesuffix(" is")}
        return old | person | {"right": right, "checks": checks, "below_percent": below}
    if row.kind == "deadline" and "when" in old:
        due = re.search(r":due:(\d{4}-\d\d-\d\d):", row.key)
        assert due is not None
        variant = {"variant": "overdue"} if old.pop("when") == "is overdue" else {}
        counts = {"done": _number(old["done"]), "pairs": _number(old["pairs"])}
        return old | variant | {"due": due[1]} | counts
    return None


def store_values(apps: Any, editor: Any) -> None:
    for name in ("Notice", "OutboxMessage"):
        rows_qs = apps.get_model("judgments", name).objects.filter(kind__in=("paused", "deadline"))
        for row in rows_qs.order_by("pk").iterator():
            values = _values(row)
            if values is not None:
                row.payload = values
                row.save(update_fields=["payload"])


class Migration(migrations.Migration):
    dependencies = [("judgments", "0017_archived")]

    operations = [migrations.RunPython(store_values, migrations.RunPython.noop, elidable=True)]
