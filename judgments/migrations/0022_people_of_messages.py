"""Messages hold the ids of the people whom they are about, not their names."""

import re
from typing import Any

from django.db import migrations


def _find(apps: Any, row: Any) -> int | None:
    """Who is meant: who accepted the invitation, or who was told the same of themselves."""
    accepted = re.fullmatch(r"invitation:(\d+):accepted", row.key)
    if accepted:
        invitations_qs = apps.get_model("judgments", "Invitation").objects
        who = invitations_qs.filter(pk=int(accepted[1])).values_list("accepted_by", flat=True)
        return who.first()
    own_qs = apps.get_model("judgments", "Notice").objects.filter(key=row.key, kind=row.kind)
    for notice in own_qs.order_by("pk"):
        if "person" not in notice.payload:
            return notice.recipient_id
    return None


def store_ids(apps: Any, editor: Any) -> None:
    for name in ("Notice", "OutboxMessage"):
        rows_qs = apps.get_model("judgments", name).objects.filter(kind__in=("joined", "paused"))
        for row in rows_qs.order_by("pk").iterator():
            if isinstance(row.payload.get("person"), str):
                row.payload["person"] = _find(apps, row)
                row.save(update_fields=["payload"])


class Migration(migrations.Migration):
    dependencies = [("judgments", "0021_zero_result_queries")]

    operations = [migrations.RunPython(store_ids, migrations.RunPython.noop, elidable=True)]
