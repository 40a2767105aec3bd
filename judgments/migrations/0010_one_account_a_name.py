"""One account for each folded user name; its own transaction, after the rows are filled."""

from django.db import migrations

import judgments.models.members


class Migration(migrations.Migration):
    dependencies = [("judgments", "0009_accounts")]

    operations = [
        migrations.AlterField(
            model_name="user",
            name="username_key",
            field=judgments.models.members.FoldedUsername(
                editable=False, max_length=600, unique=True
            ),
        ),
    ]
