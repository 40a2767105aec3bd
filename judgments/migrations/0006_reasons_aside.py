"""Why a version was made, and the notes of a release, go to side texts."""

from django.db import migrations

from judgments.storage.moving_texts import move_texts


class Migration(migrations.Migration):
    dependencies = [("judgments", "0005_keys_of_reasons")]
    operations = [
        move_texts("judgments", "JudgmentVersion", "reason_text", ["reason"]),
        migrations.RemoveField("JudgmentVersion", "reason"),
        move_texts("judgments", "Release", "notes_text", ["notes"]),
        migrations.RemoveField("Release", "notes"),
    ]
