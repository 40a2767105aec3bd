"""A database with work in it, one migration back in each app and forward again: what differs?

`python -m tests.config.commands.back_and_forth`, in a process of its own, on the database without
rows that the environment names. Ends with 1 if a row of ours differs, or an evaluation is wrong.
"""

import hashlib
import os
import sys
from collections.abc import Iterator

import django
from django.core.management import call_command

from config.database.migrating import migrate_what_is_due

APPS = ("judgments", "evaluation", "annotation")


def steps() -> Iterator[tuple[str, str]]:
    """Each app that has more than one migration, and the one before its last."""
    from django.db import connection
    from django.db.migrations.loader import MigrationLoader

    graph = MigrationLoader(connection).graph
    for app in APPS:
        (last,) = graph.leaf_nodes(app)
        parents = (one.key for one in graph.node_map[last].parents)
        yield from (key for key in parents if key[0] == app)


def digests() -> dict[str, str]:
    """Of every table of ours: how many rows, and all they say, in the order of their keys."""
    from django.apps import apps

    found = {}
    for model in (model for app in APPS for model in apps.get_app_config(app).get_models()):
        rows = [
            [bytes(value) if isinstance(value, memoryview) else value for value in row]
            for row in model._base_manager.order_by("pk").values_list()
        ]
        found[model._meta.label] = f"{len(rows)} {hashlib.sha256(repr(rows).encode()).hexdigest()}"
    return found


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    from tests.config.commands.installation import build

    migrate_what_is_due()
    build()
    before = digests()
    backwards = list(steps())
    assert backwards, "no app has a migration to go back by"
    # all but the last without what the command does besides, which takes as long again
    MigrationExecutor(connection).migrate(backwards[:-1])
    call_command("migrate", *backwards[-1], verbosity=0, interactive=False)
    call_command("migrate", verbosity=0, interactive=False)
    after = digests()
    differing = sorted(label for label in before if before[label] != after[label])
    sys.stdout.write("".join(f"{one}: {before[one]}, then {after[one]}\n" for one in differing))
    call_command("verify", "--all", stdout=sys.stderr)
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
