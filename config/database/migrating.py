"""Migrating at the start of a process."""

from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def migrate_what_is_due() -> None:
    """Migrate the database, unless nothing is due: `migrate` takes 0.7 s to find that."""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", verbosity=0, interactive=False)
