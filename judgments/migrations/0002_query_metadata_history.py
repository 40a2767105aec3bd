"""`PastTraits` is `QueryMetadataHistory`; its triggers, named after its table, are made again."""

from typing import Any

from django.db import migrations

from judgments.triggers import AppendOnly, remove_triggers


def drop_triggers(table: str) -> migrations.RunPython:
    def drop(apps: Any, schema_editor: Any) -> None:
        if table in schema_editor.connection.introspection.table_names():
            remove_triggers(schema_editor.connection, [AppendOnly(table)])

    return migrations.RunPython(drop, drop)


class Migration(migrations.Migration):
    dependencies = [("judgments", "0001_squashed_0011_release_quality")]
    operations = [
        drop_triggers("judgments_pasttraits"),
        drop_triggers("judgments_querymetadatahistory"),
        migrations.RenameModel("PastTraits", "QueryMetadataHistory"),
    ]
