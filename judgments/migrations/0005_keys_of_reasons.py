"""The columns by which versions and releases name what was written of them."""

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
    dependencies = [("judgments", "0004_audit_details_aside")]
    operations = [
        migrations.AddField("JudgmentVersion", "reason_text", side_text_key()),
        migrations.AddField("Release", "notes_text", side_text_key()),
    ]
