"""A table for what people wrote beside facts, and the column by which an audit entry names it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judgments", "0002_query_metadata_history")]
    operations = [
        migrations.CreateModel(
            name="SideText",
            fields=[
                (
                    "digest",
                    models.CharField(max_length=64, primary_key=True, serialize=False),
                ),
                ("salt", models.CharField(max_length=32)),
                ("text", models.TextField()),
            ],
            options={"ordering": ("digest",)},
        ),
        migrations.AddField(
            "AuditEntry",
            "detail",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="judgments.sidetext",
            ),
        ),
    ]
