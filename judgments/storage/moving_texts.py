"""The migrations that move a fact's texts to its side text, and back."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from django.db import migrations

from judgments.storage.side_texts import new_text
from judgments.triggers import AppendOnly, remove_triggers

ROWS: Final = 2_000  # a chunk's


def move_texts(
    app: str,
    model: str,
    key: str,
    columns: Sequence[str],
    *,
    to_text: Callable[..., str] = str,
    to_values: Callable[[str], Sequence[Any]] = lambda text: [text],
) -> migrations.RunPython:
    """Put the columns of each fact into one side text, which the column `key` names.

    to_text: from the columns' values; an empty text leaves the fact without one. to_values: back
    again. What has a side text already keeps it, so that going back and forward again changes no
    digest. The triggers that keep facts as they are come back after the migrations.
    """

    def forward(apps: Any, schema_editor: Any) -> None:
        fact, side = apps.get_model(app, model), apps.get_model("judgments", "SideText")
        open_facts(schema_editor.connection, fact._meta.db_table)
        due_qs = fact._base_manager.filter(**{key: None})
        for rows in _chunks(due_qs.order_by("pk").values_list("pk", *columns)):
            made = {pk: new_text(to_text(*values)) for pk, *values in rows}
            given = {pk: text for pk, text in made.items() if text}
            side._base_manager.bulk_create(
                side(digest=text.digest, salt=text.salt, text=text.text) for text in given.values()
            )
            _update(
                schema_editor.connection,
                fact,
                [f"{key}_id"],
                [(text.digest, pk) for pk, text in given.items()],
            )

    def back(apps: Any, schema_editor: Any) -> None:
        fact = apps.get_model(app, model)
        open_facts(schema_editor.connection, fact._meta.db_table)
        there_qs = fact._base_manager.filter(**{f"{key}__text__isnull": False})
        fields = [fact._meta.get_field(column) for column in columns]
        for rows in _chunks(there_qs.order_by("pk").values_list("pk", f"{key}__text")):
            values = [
                (
                    *(
                        field.get_db_prep_save(value, schema_editor.connection)
                        for field, value in zip(fields, to_values(text), strict=True)
                    ),
                    pk,
                )
                for pk, text in rows
            ]
            _update(schema_editor.connection, fact, columns, values)

    return migrations.RunPython(forward, back)


def _chunks(rows_qs: Any) -> Iterator[Sequence[Any]]:
    """The rows by chunks; which they are is read first, for they are changed meanwhile."""
    keys = list(rows_qs.values_list("pk", flat=True))
    for begin in range(0, len(keys), ROWS):
        part = keys[begin : begin + ROWS]
        yield list(rows_qs.filter(pk__gte=part[0], pk__lte=part[-1]))


def _update(connection: Any, fact: Any, columns: Sequence[str], rows: Sequence[Any]) -> None:
    """Write the columns of rows that are given as (value, …, primary key)."""
    key = fact._meta.pk
    said = ", ".join(f'"{column}" = %s' for column in columns)
    with connection.cursor() as cursor:
        cursor.executemany(
            f'UPDATE "{fact._meta.db_table}" SET {said} '  # noqa: S608
            + f'WHERE "{key.column}" = %s',
            [(*values, key.get_db_prep_save(pk, connection)) for *values, pk in rows],
        )


def open_facts(connection: Any, table: str) -> None:
    """Allow the rows of a table of facts to be written again, for the rest of a migration."""
    remove_triggers(connection, [AppendOnly(table)])
    if connection.vendor == "postgresql":
        # a table whose rows wait for their checks can't be altered
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
