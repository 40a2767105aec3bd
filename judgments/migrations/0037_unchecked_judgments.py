"""On PostgreSQL no foreign key is checked for each judgment, which took most of an import's time.

What guarantees them instead: `judgments.versions.services` checks every new pair, and `verify` all.
On SQLite the keys stay: they cost little there, and the table would have to be written again.
"""

import django.db.models.deletion
from django.db import migrations, models

from judgments.storage.at_once import AtOnce


class AlterOnPostgreSQL(migrations.AlterField):
    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        if schema_editor.connection.vendor == "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label, schema_editor, from_state, to_state):
        self.database_forwards(app_label, schema_editor, from_state, to_state)


def unchecked(to, related_name="+"):
    return models.ForeignKey(
        db_constraint=False,
        db_index=False,
        on_delete=django.db.models.deletion.PROTECT,
        related_name=related_name,
        to=to,
    )


class Migration(migrations.Migration):
    dependencies = [("judgments", "0001_squashed_0036_purged_collections")]

    operations = [
        AtOnce(
            [
                AlterOnPostgreSQL("judgment", "list", unchecked("judgments.judgmentlist", "judgments")),
                AlterOnPostgreSQL("judgment", "query", unchecked("judgments.query")),
                AlterOnPostgreSQL("judgment", "document", unchecked("judgments.document")),
            ]
        )
    ]
