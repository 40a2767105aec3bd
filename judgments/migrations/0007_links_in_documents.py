"""Links in documents' HTML look like links: what was cleaned without them is cleaned again."""

from django.db import migrations
from judgments.pages.markup import clean_html


def clean_again(apps, schema_editor):
    documents = apps.get_model("judgments", "Document").objects
    for pk in list(documents.exclude(clean_html="").order_by().values_list("pk", flat=True)):
        document = documents.only("fields", "clean_html").get(pk=pk)
        cleaned = clean_html(document.fields)
        if cleaned != document.clean_html:
            documents.filter(pk=pk).update(clean_html=cleaned)


class Migration(migrations.Migration):
    dependencies = [("judgments", "0006_reasons_aside")]
    operations = [migrations.RunPython(clean_again, migrations.RunPython.noop, elidable=True)]
