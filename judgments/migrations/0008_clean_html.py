from django.db import migrations, models

from judgments.pages.markup import clean_html

AT_ONCE = 20  # documents in memory; each may have megabytes


def clean_what_is_stored(apps, schema_editor):
    """Clean the HTML of the documents that have some, a few at a time."""
    Document = apps.get_model("judgments", "Document")
    with_html_qs = Document.objects.filter(fields__has_key="html").only("pk", "fields")
    last = 0
    while documents := list(with_html_qs.filter(pk__gt=last).order_by("pk")[:AT_ONCE]):
        for document in documents:
            document.clean_html = clean_html(document.fields)
        Document.objects.bulk_update(documents, ["clean_html"])
        last = documents[-1].pk


class Migration(migrations.Migration):
    dependencies = [("judgments", "0007_sets_archived")]

    operations = [
        migrations.AddField(
            model_name="document",
            name="clean_html",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.RunPython(clean_what_is_stored, migrations.RunPython.noop, elidable=True),
    ]
