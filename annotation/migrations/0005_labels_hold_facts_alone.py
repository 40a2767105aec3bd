"""What was written with labels goes to side texts, and when they were made to their timing."""

from typing import Any

from django.db import migrations, models

from judgments.storage.moving_texts import move_texts, open_facts

FORWARD = """
INSERT INTO annotation_labeltiming (label_id, made_at, seconds)
SELECT id, made_at, seconds FROM annotation_label l
WHERE NOT EXISTS (SELECT 1 FROM annotation_labeltiming t WHERE t.label_id = l.id)
"""
# of a label whose timing is erased it is known when it came
BACK = """
UPDATE annotation_label SET
made_at = COALESCE((SELECT t.made_at FROM annotation_labeltiming t WHERE t.label_id = id), received_at),
seconds = (SELECT t.seconds FROM annotation_labeltiming t WHERE t.label_id = id)
"""


def forward(_: Any, schema_editor: Any) -> None:
    open_facts(schema_editor.connection, "annotation_label")
    schema_editor.execute(FORWARD)


def back(_: Any, schema_editor: Any) -> None:
    open_facts(schema_editor.connection, "annotation_label")
    schema_editor.execute(BACK)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_beside_labels")]
    operations = [
        # so that going back can make the column before its values are back
        migrations.AlterField("Label", "made_at", models.DateTimeField(null=True)),
        migrations.RunPython(forward, back),
        migrations.RemoveConstraint("Label", "label_seconds_of_a_day"),
        migrations.RemoveField("Label", "seconds"),
        migrations.RemoveField("Label", "made_at"),
        move_texts("annotation", "Label", "reason_text", ["reason"]),
        migrations.RemoveField("Label", "reason"),
        move_texts("annotation", "Label", "note_text", ["note"]),
        migrations.RemoveField("Label", "note"),
    ]
