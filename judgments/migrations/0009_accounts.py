"""Folded user names, suspended accounts, and sessions that can be ended.

Two accounts whose names differ by case or Unicode form alone: the active and older one keeps its
name, each further one gets the first free number behind it. What was renamed is printed and in
the audit log; the renamed person signs in under the new name with the same password.
"""

import sys
from itertools import count

from django.db import migrations, models
from django.utils import timezone

import judgments.models.members
from judgments.usernames import fold

LONGEST = 150


def fill(apps, schema_editor):
    User = apps.get_model("judgments", "User")
    AuditEntry = apps.get_model("judgments", "AuditEntry")
    rows = list(User.objects.order_by("-is_active", "pk").values_list("pk", "username"))
    taken = {}
    again = []
    for pk, username in rows:
        if fold(username) in taken:
            again.append((pk, username))
        else:
            taken[fold(username)] = username
            User.objects.filter(pk=pk).update(username_key=fold(username))
    for pk, username in again:
        tails = (f"-{number}" for number in count(2))
        names = (username[: LONGEST - len(tail)] + tail for tail in tails)
        name = next(name for name in names if fold(name) not in taken)
        other = taken[fold(username)]
        taken[fold(name)] = name
        User.objects.filter(pk=pk).update(username=name, username_key=fold(name))
        AuditEntry.objects.create(
            at=timezone.now(),
            action="account.renamed",
            subject=name,
            before={"username": username},
            after={"username": name},
        )
        sys.stdout.write(
            f"\n  The user name {username} is the same as {other} but for its spelling. "
            f"Account {pk} is now called {name}: tell its owner.\n"
        )


class Migration(migrations.Migration):
    dependencies = [("judgments", "0008_clean_html")]

    operations = [
        migrations.AlterModelManagers(
            name="user", managers=[("objects", judgments.models.members.Accounts())]
        ),
        migrations.AddField(
            model_name="user",
            name="session_epoch",
            field=models.PositiveIntegerField(default=0, editable=False),
        ),
        migrations.AddField(
            model_name="user",
            name="suspended_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
        # without an index until it is filled, in the next migration
        migrations.AddField(
            model_name="user",
            name="username_key",
            field=models.CharField(default="", editable=False, max_length=600),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            model_name="user",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("suspended_at", None), ("is_active", False), _connector="OR"
                ),
                name="suspended_is_not_active",
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
