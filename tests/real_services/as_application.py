"""The work of an installation, as the role of the application: `python -m` this, in a process.

Labels, a version, a release, evaluations, an upload that a worker takes, labels from a file (which
tell PostgreSQL what came in), sign-in and sign-out, expired sessions, accounts, what is due and
what is stored.
"""

import io
import os
from datetime import timedelta

import django


def work() -> None:
    """All of it; the database has been migrated, by another role."""
    from django.contrib.sessions.models import Session
    from django.core.management import call_command
    from django.test import Client
    from django.utils import timezone

    from annotation.imports.files import read_given_labels
    from annotation.imports.services import import_labels
    from judgments.models import Collection, JudgmentList, User
    from tests.builders import make_access
    from tests.config.commands.installation import build
    from touchstone.scales import Scale

    build()
    collection = Collection.objects.get(slug="books")
    judgment_list = JudgmentList.objects.get(collection=collection, slug="main")
    now = timezone.now()
    table = b"annotator,query_id,doc_id,grade\nagent_1,q2,d1,3\nagent_2,q2,d1,2\n"
    import_labels(
        access=make_access(collection=collection, username="ada"),
        judgment_list=judgment_list,
        given=read_given_labels(
            io.BytesIO(table), name="past.csv", scale=Scale.from_json(judgment_list.scale), at=now
        ),
        campaign_name="Past",
        names={},
        create=False,
        seed=1,
        at=now,
    )
    browser = Client(headers={"host": "localhost"})
    for username in ("ada", "ben"):
        person = User.objects.get(username=username)
        browser.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        assert browser.get("/", follow=True).status_code == 200
    assert browser.post("/logout").status_code == 302
    browser.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    Session.objects.update(expire_date=now - timedelta(days=1))
    call_command("clearsessions")
    assert not Session.objects.exists()
    for command in ("suspend_account", "resume_account", "make_administrator"):
        call_command(command, "ben", verbosity=0)
    call_command("reconcile", verbosity=0)
    call_command("verify", "--all", verbosity=0)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    work()
