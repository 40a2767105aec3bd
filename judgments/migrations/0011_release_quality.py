from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("judgments", "0010_one_account_a_name")]

    operations = [
        migrations.AddField(
            model_name="release",
            name="quality",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
        migrations.AddField(
            model_name="release",
            name="quality_tone",
            field=models.CharField(blank=True, db_default="", default="", max_length=8),
        ),
    ]
