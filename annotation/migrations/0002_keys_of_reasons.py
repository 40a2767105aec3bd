"""The columns by which decisions and wishes name why."""

import django.db.models.deletion
from django.db import migrations, models


def side_text_key() -> models.ForeignKey:  # type: ignore[type-arg]
    return models.ForeignKey(
        db_constraint=False,
        db_index=False,
        null=True,
        on_delete=django.db.models.deletion.DO_NOTHING,
        related_name="+",
        to="judgments.sidetext",
    )


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0001_squashed_0020_no_pause_reminders"),
        ("judgments", "0003_side_texts"),
    ]
    operations = [
        migrations.AddField("Adjudication", "reason_text", side_text_key()),
        migrations.AddField("Reopening", "reason_text", side_text_key()),
        migrations.AddField("OneMoreLabel", "reason_text", side_text_key()),
    ]
