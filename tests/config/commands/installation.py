"""An installation with something of everything, made in the database that the environment names.

`python -m tests.config.commands.installation`, in a process of its own: a backup is of a whole
database, and the tests' own is inside a transaction.
"""

import os

import django
from django.core.files.base import ContentFile

from config.database.migrating import migrate_what_is_due


def build() -> None:
    """A collection with labels, a version, a release, an evaluated run, and a job not yet done."""
    from django.utils import timezone

    from annotation.consolidation.services import consolidate
    from evaluation.evaluations.refreshing import refresh_evaluations
    from judgments.jobs.services import submit_job
    from judgments.lists.services import release_version
    from tests.builders import make_access, make_world
    from tests.builders_annotation import label, make_campaign
    from tests.evaluation.builders import make_run

    world = make_world(queries=2, documents=3)
    (query, _), documents = world.queries, world.documents
    make_run(collection=world.collection, rankings={"q1": ["d1", "d2"], "q2": ["d3"]})
    campaign = make_campaign(world=world, pairs=[(query, document) for document in documents])
    for pair in campaign.pairs.order_by("pk"):
        for username, grade in (("ben", 3), ("cem", 3)):
            label(pair=pair, username=username, grade=grade, note="So.", reason="title")
    now = timezone.now()
    consolidate(list_id=world.judgments.pk, at=now)
    access = make_access(collection=world.collection)
    world.judgments.refresh_from_db()
    release_version(
        access=access,
        at=now,
        judgment_list=world.judgments,
        number=world.judgments.head,
        name="spring",
    )
    refresh_evaluations(list_id=world.judgments.pk, at=now)
    file = ContentFile(b"q9\tone more\n", name="queries.tsv")
    submit_job(access=access, kind="import_queries", file=file, params={}, at=now)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    migrate_what_is_due()
    build()


if __name__ == "__main__":
    main()
