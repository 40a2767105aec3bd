"""Nobody is reminded of pauses any more; the key that switched it means nothing now."""

from typing import Any

from django.db import migrations


def forget_key(apps: Any, schema_editor: Any) -> None:
    rows = apps.get_model("annotation", "LabellingPreferences").objects.filter(
        keys__has_key="pauses"
    )
    for row in rows:
        del row.keys["pauses"]
        row.save(update_fields=["keys"])


class Migration(migrations.Migration):
    dependencies = [("annotation", "0019_labels_set_aside_by_leads")]
    operations = [
        migrations.RunPython(forget_key, migrations.RunPython.noop),
        migrations.RemoveField("labellingpreferences", "suggests_pauses"),
    ]
