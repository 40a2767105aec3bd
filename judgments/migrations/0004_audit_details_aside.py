"""What an audit entry says of things and people goes to side texts."""

import json
from typing import Any

from django.db import migrations, models

from judgments.storage.moving_texts import move_texts

COLUMNS = ("subject", "before", "after")


def to_text(*values: Any) -> str:
    return json.dumps(dict(zip(COLUMNS, values, strict=True)), ensure_ascii=False)


def to_values(text: str) -> list[Any]:
    said = json.loads(text)
    return [said[column] for column in COLUMNS]


class Migration(migrations.Migration):
    dependencies = [("judgments", "0003_side_texts")]
    operations = [
        # so that going back can make the column before its values are back
        migrations.AlterField("AuditEntry", "subject", models.CharField(max_length=200, default="")),
        move_texts("judgments", "AuditEntry", "detail", COLUMNS, to_text=to_text, to_values=to_values),
        migrations.RemoveField("AuditEntry", "subject"),
        migrations.RemoveField("AuditEntry", "before"),
        migrations.RemoveField("AuditEntry", "after"),
    ]
