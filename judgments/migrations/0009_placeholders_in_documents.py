"""What documents' HTML embeds leaves a placeholder: what was cleaned without is cleaned again."""

from importlib import import_module

from django.db import migrations

clean_again = import_module("judgments.migrations.0007_links_in_documents").clean_again


class Migration(migrations.Migration):
    dependencies = [("judgments", "0008_pictures")]
    operations = [migrations.RunPython(clean_again, migrations.RunPython.noop, elidable=True)]
