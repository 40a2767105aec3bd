"""A table for when labels were made, and the columns by which they name what was written."""

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
    dependencies = [("annotation", "0003_reasons_aside")]
    operations = [
        migrations.CreateModel(
            name="LabelTiming",
            fields=[
                (
                    "label",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="timing",
                        serialize=False,
                        to="annotation.label",
                    ),
                ),
                ("made_at", models.DateTimeField()),
                ("seconds", models.FloatField(null=True)),
            ],
            options={"ordering": ("label",)},
        ),
        migrations.AddConstraint(
            "LabelTiming",
            models.CheckConstraint(
                condition=models.Q(seconds__isnull=True)
                | models.Q(seconds__gte=0, seconds__lte=86400),
                name="label_timing_seconds_of_a_day",
            ),
        ),
        migrations.AddField("Label", "reason_text", side_text_key()),
        migrations.AddField("Label", "note_text", side_text_key()),
    ]
