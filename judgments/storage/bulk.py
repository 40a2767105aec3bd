"""Many rows in one statement, on SQLite and on PostgreSQL.

Django's own bulk statements name every value as a parameter, which SQLite allows only a few
hundred of, and `IN (…) AND IN (…)` reads far more than the pairs that were asked for. Here a
list travels as one parameter and is joined.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from django.apps import apps
from django.db import connection, connections, models

from judgments.storage.short_transactions import SHORT, short_transaction

Pair = tuple[int, int]
Column = npt.NDArray[np.integer[Any]] | int | str
CHUNK = 20_000
FETCHED: Final = 50_000  # rows that are Python objects at once
COPIED: Final = 1 << 17  # rows that are laid out at once for COPY

# Only the owner of a table may ANALYZE it, which the application is not. This function runs as its
# owner, does nothing else, and only to tables that are the same owner's.
ANALYZE_FUNCTION: Final = """
CREATE OR REPLACE FUNCTION touchstone_analyze(tables regclass[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE one regclass;
BEGIN
  FOR one IN
    SELECT oid FROM pg_class
    WHERE oid = ANY(tables) AND relkind IN ('r', 'p') AND pg_has_role(relowner, 'USAGE')
  LOOP
    EXECUTE format('ANALYZE %s', one);
  END LOOP;
END $$
"""


def insert_rows(
    model: type[models.Model],
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    ignore_conflicts: bool = False,
    update_on: Sequence[str] = (),
) -> None:
    """Insert plain values; a JSON column's values are given as JSON text.

    columns: attribute names ("list_id", "grade"). ignore_conflicts: leave out what is there.
    update_on: the columns of a unique constraint; a row that is there under them is overwritten.
    """
    if not rows:
        return
    fields = {field.attname: field for field in model._meta.concrete_fields}
    names = ", ".join(f'"{fields[name].column}"' for name in columns)
    into = f'INSERT INTO "{model._meta.db_table}" ({names})'
    skip = " ON CONFLICT DO NOTHING" if ignore_conflicts else ""
    if update_on:
        new = ", ".join(f'"{n}" = excluded."{n}"' for n in columns if n not in update_on)
        skip = f" ON CONFLICT ({', '.join(update_on)}) DO UPDATE SET {new}"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            types = [str(fields[name].db_type(connection)).split("(")[0] for name in columns]
            lists = ", ".join(_EXPANDED.get(kind, f"unnest(%s::{kind}[])") for kind in types)
            for start in range(0, len(rows), CHUNK):
                values = zip(*rows[start : start + CHUNK], strict=True)
                packed = [_packed(kind, own) for kind, own in zip(types, values, strict=True)]
                cursor.execute(f"{into} SELECT * FROM ROWS FROM ({lists}){skip}", packed)  # noqa: S608
        else:
            places = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"{into} VALUES ({places}){skip}", rows)


def insert_ids(
    model: type[models.Model], name: str, ids: Sequence[str], others: Mapping[str, Any]
) -> None:
    """Insert a row for each id that is not there; all that is not their id is the same in all.

    Outside of a transaction, in several short ones on SQLite.
    name: of the id's column. others: by attribute name; a JSON column's value as JSON text.
    """
    fields = {field.attname: field for field in model._meta.concrete_fields}
    names = ", ".join(f'"{fields[one].column}"' for one in (name, *others))
    into = f'INSERT INTO "{model._meta.db_table}" ({names})'
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            same = ", ".join(f"%s::{fields[one].db_type(connection)}" for one in others)
            # an array's texts would be escaped one by one
            rows = f"SELECT id, {same} FROM json_array_elements_text(%s::json) AS id"  # noqa: S608
            for start in range(0, len(ids), FETCHED):
                own = json.dumps(ids[start : start + FETCHED])
                statement = f"{into} {rows} ON CONFLICT DO NOTHING"
                cursor.execute(statement, [*others.values(), own])
        else:
            places = ", ".join(["%s"] * (1 + len(others)))
            statement = f"{into} VALUES ({places}) ON CONFLICT DO NOTHING"
            for start in range(0, len(ids), SHORT):
                some = [(one, *others.values()) for one in ids[start : start + SHORT]]
                with short_transaction():
                    cursor.executemany(statement, some)


def copy_rows(model: type[models.Model], columns: Mapping[str, Column], n: int) -> None:
    """Insert `n` rows of numbers, and of values that are the same in all, without objects a row.

    columns: by attribute name an array of whole numbers (n,), or one value; of a JSON column its
    text. On PostgreSQL in the binary form of COPY, on SQLite in batches.
    """
    fields = {field.attname: field for field in model._meta.concrete_fields}
    names = ", ".join(f'"{fields[name].column}"' for name in columns)
    table = f'"{model._meta.db_table}" ({names})'
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            kinds = [str(fields[name].db_type(connection)) for name in columns]
            with cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
                copy.write(_COPY_HEAD)
                for start in range(0, n, COPIED):
                    rows = slice(start, start + COPIED)
                    length = min(COPIED, n - start)
                    copy.write(_binary(kinds, list(columns.values()), rows, length))
                copy.write(_COPY_END)
            return
        places = ", ".join("%s" for _ in columns)
        for start in range(0, n, CHUNK):
            length = min(CHUNK, n - start)
            own = (
                value[start : start + length].tolist()
                if isinstance(value, np.ndarray)
                else repeat(value, length)
                for value in columns.values()
            )
            statement = f"INSERT INTO {table} VALUES ({places})"  # noqa: S608
            cursor.executemany(statement, list(zip(*own, strict=True)))


_COPY_HEAD: Final = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_COPY_END: Final = b"\xff\xff"
_NUMBERS: Final = {"bigint": ">i8", "integer": ">i4", "smallint": ">i2"}


def _binary(kinds: Sequence[str], values: Sequence[Column], rows: slice, length: int) -> bytes:
    """The rows as COPY's binary form has them: how many fields, and each with its length."""
    laid = [_laid_out(kind, value, rows) for kind, value in zip(kinds, values, strict=True)]
    parts = [("fields", ">i2")]
    for place, (form, _, _) in enumerate(laid):
        parts += [(f"size{place}", ">i4"), (f"value{place}", form)]
    table = np.empty(length, parts)
    table["fields"] = len(kinds)
    for place, (_, size, value) in enumerate(laid):
        table[f"size{place}"], table[f"value{place}"] = size, value
    return table.tobytes()


def _laid_out(kind: str, value: Column, rows: slice) -> tuple[str, int, Any]:
    """A column's NumPy form, how many bytes a value has, and the values."""
    if kind == "jsonb":
        text = b"\x01" + str(value).encode()
        return f"V{len(text)}", len(text), np.void(text)
    form = _NUMBERS[kind.split(" ", maxsplit=1)[0]]
    return form, int(form[2:]), value[rows] if isinstance(value, np.ndarray) else value


# An array of JSON texts would be escaped a character at a time; `json` and not `jsonb`, which
# holds no more than 256 MB.
_EXPANDED: Final = {"jsonb": "json_array_elements(%s::json)"}


def _packed(kind: str, values: Sequence[Any]) -> str | list[Any]:
    """A column's values as the one parameter that is expanded into rows."""
    return f"[{','.join(values)}]" if kind in _EXPANDED else list(values)


def analyse(*tables: type[models.Model]) -> None:
    """Tell PostgreSQL how much has come into these tables, or into all where none is named.

    By itself it looks once in a minute, never at what is not committed, and until then may take a
    table for empty and read it whole for each of thousands of rows.
    """
    if connection.vendor == "postgresql":
        named = [f'"{table._meta.db_table}"' for table in tables or apps.get_models()]
        with connection.cursor() as cursor:
            cursor.execute("SELECT touchstone_analyze(%s::text[]::regclass[])", [named])


def install_analyze(using: str, **_: Any) -> None:
    """Make the function that `analyse` calls; after each migrate, by the owner of the tables."""
    if connections[using].vendor == "postgresql":
        with connections[using].cursor() as cursor:
            cursor.execute(ANALYZE_FUNCTION)


class Among(models.Expression):
    """Whether a column of whole numbers is one of the given ones: `filter(Among("pair", ids))`.

    As `pair__in=ids`, but for any number of them, and in a tenth of the time where they are many.
    """

    output_field: "models.Field[Any, Any]" = models.BooleanField()

    def __init__(self, column: str, values: Iterable[int]) -> None:
        super().__init__()
        self.column: Any = models.F(column)
        self.values = list(values)

    def get_source_expressions(self) -> list[Any]:
        """What Django resolves to a table's column."""
        return [self.column]

    def set_source_expressions(self, exprs: Sequence[Any]) -> None:
        """The column, resolved."""
        (self.column,) = exprs

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        """As `values_list` says it."""
        column, parameters = compiler.compile(self.column)
        subquery, parameter = values_list(self.values, "bigint")
        return f"{column} {subquery}", (*parameters, parameter)


class PlaceAmong(Among):
    """The how many-th of the given values a column of whole numbers holds, from 1."""

    output_field = models.BigIntegerField()

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[Any, ...]]:
        """An array's position on PostgreSQL, a key of JSON elsewhere."""
        column, parameters = compiler.compile(self.column)
        if connection.vendor == "postgresql":
            return f"array_position(%s::bigint[], {column})", (self.values, *parameters)
        place = f"(SELECT key + 1 FROM json_each(%s) WHERE value = {column})"  # noqa: S608
        return place, (json.dumps(self.values), *parameters)


def values_list(values: Iterable[int | str], kind: str) -> tuple[str, Any]:
    """SQL for "is one of the values", to follow a column, and its one parameter.

    kind: "bigint" or "text". On PostgreSQL an array, not a subquery: joined to one, a table that
    has no statistics yet is read as a whole for every value.
    """
    if connection.vendor == "postgresql":
        return f"= ANY(%s::{kind}[])", list(values)
    return "IN (SELECT value FROM json_each(%s))", json.dumps(list(values))


def pairs_list(pairs: Iterable[Pair]) -> tuple[str, list[Any]]:
    """SQL for a table `pairs(a, b)` to put first in a CROSS JOIN, and its parameters."""
    if connection.vendor == "postgresql":
        columns = list(zip(*pairs, strict=True)) or [(), ()]
        return "unnest(%s::bigint[], %s::bigint[]) AS pairs(a, b)", [list(c) for c in columns]
    sql = (
        "(SELECT json_extract(value, '$[0]') AS a, json_extract(value, '$[1]') AS b "
        + "FROM json_each(%s)) AS pairs"
    )
    return sql, [json.dumps(list(pairs))]


def rows_list(ids: Iterable[int]) -> tuple[str, list[Any]]:
    """SQL for a table `asked(id)` to put first in a CROSS JOIN, and its parameters."""
    if connection.vendor == "postgresql":
        return "unnest(%s::bigint[]) AS asked(id)", [sorted(set(ids))]
    return "(SELECT value AS id FROM json_each(%s)) AS asked", [json.dumps(sorted(set(ids)))]
