"""Queries of one shape, asked with every label: their SQL is built once and then filled in.

Building a statement from a queryset takes Django several times as long as the database takes to
answer it. Here the queryset is written as ever, with a `slot` wherever a value comes later; its
SQL, and how its columns become Python values, is kept with the connection.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.models import sql
from django.db.models.expressions import Expression, F, Func
from django.db.models.query import QuerySet, get_related_populators
from django.db.transaction import TransactionManagementError

Row = TypeVar("Row")
Build = Callable[[], "QuerySet[Any, Any]"]
_KEPT = "_prepared_statements"
PLANNED_AFTER: Final = 2  # times that a statement was asked


class Slot(Expression):
    """The place of a value in a prepared query. kind: a field that says how it is stored."""

    def __init__(self, name: str, kind: "models.Field[Any, Any]") -> None:
        super().__init__(output_field=kind)
        self.name = name
        self.kind = kind

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        """A placeholder; the slot itself stands among the parameters until it is filled."""
        return "%s", [self]


class Ids(models.Field):  # type: ignore[type-arg]
    """Many ids as one value. of: what they are ids of: a number's or a UUID's field."""

    def __init__(self, of: "models.Field[Any, Any]") -> None:
        super().__init__()
        self.of = of

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        """An array on PostgreSQL, JSON elsewhere: see bulk.py."""
        if connection.vendor == "postgresql":
            return list(value)
        return json.dumps([self.of.get_db_prep_save(one, connection) for one in value])


class OneOf(Func):
    """Whether a column holds one of the ids that are given under a name. kind: of the ids."""

    arity = 2
    output_field = models.BooleanField()

    def __init__(
        self, column: str, name: str, kind: "models.Field[Any, Any] | None" = None
    ) -> None:
        ids = Slot(name, Ids(kind or models.BigIntegerField()))
        self._kind = "uuid" if isinstance(kind, models.UUIDField) else "bigint"
        super().__init__(F(column), ids)

    def as_sql(self, compiler: Any, connection: Any, **_: Any) -> tuple[str, Any]:  # type: ignore[override]
        """In the words of each database."""
        # a column has no parameters
        (column, _), (ids, of_ids) = map(compiler.compile, self.get_source_expressions())
        if connection.vendor == "postgresql":
            return f"{column} = ANY({ids}::{self._kind}[])", of_ids
        return f"{column} IN (SELECT value FROM json_each({ids}))", of_ids  # noqa: S608


def slot(name: str, kind: "type[models.Field[Any, Any]]" = models.BigIntegerField) -> Slot:
    """A place for a value of this kind; ids are whole numbers."""
    return Slot(name, kind())


@dataclass(frozen=True)
class _Statement:
    """SQL with its parameters, some of which are slots, and how rows become values."""

    sql: str
    params: Sequence[Any]
    compiler: Any
    is_locking: bool = False
    converters: Mapping[int, Any] = field(default_factory=dict)

    def fill(self, values: Mapping[str, Any], own: Any) -> list[Any]:
        """The parameters with the values in their slots; KeyError for a slot without one."""
        return [
            one.kind.get_db_prep_save(values[one.name], own) if isinstance(one, Slot) else one
            for one in self.params
        ]


@dataclass(frozen=True)
class _Shape:
    """Where in a row a model's fields begin, which they are, and what is selected beside them."""

    model: type[models.Model]
    start: int
    attributes: Sequence[str]
    populators: Sequence[Any]
    annotations: Mapping[str, int]


class PreparedRows(Generic[Row]):
    """A query of a `values_list`. build: makes its queryset; called once for a connection."""

    def __init__(self, build: Build) -> None:
        self._build = build

    def list(self, **values: Any) -> "list[Row]":
        """The rows, with the values in their slots."""
        own = connections[DEFAULT_DB_ALIAS]
        return _fetch(own, _kept(own, self, self._prepare), values)

    def _prepare(self) -> _Statement:
        return _reading(self._build())


class PreparedObjects(Generic[Row]):
    """A query of a model's objects, with what they select beside them and what is annotated."""

    def __init__(self, build: Build) -> None:
        self._build = build

    def list(self, **values: Any) -> "list[Row]":
        """The objects, with the values in their slots."""
        own = connections[DEFAULT_DB_ALIAS]
        statement, shape = _kept(own, self, self._prepare)
        return [_made(shape, row) for row in _fetch(own, statement, values)]

    def _prepare(self) -> tuple[_Statement, _Shape]:
        statement = _reading(self._build())
        compiler = statement.compiler
        info = compiler.klass_info
        places = info["select_fields"]
        shape = _Shape(
            info["model"],
            places[0],
            [compiler.select[place][0].target.attname for place in places],
            # the stubs know a later Django
            get_related_populators(info, compiler.select, DEFAULT_DB_ALIAS),  # type: ignore[call-arg]
            compiler.annotation_col_map,
        )
        return statement, shape


class PreparedUpdate:
    """A change of rows. build: makes their queryset; changes: what they are to hold."""

    def __init__(self, build: Build, **changes: Any) -> None:
        self._build = build
        self._changes = changes

    def run(self, **values: Any) -> int:
        """Change the rows; how many there were."""
        own = connections[DEFAULT_DB_ALIAS]
        statement = _kept(own, self, self._prepare)
        with _cursor(own) as cursor:
            cursor.execute(statement.sql, statement.fill(values, own))
            return int(cursor.rowcount)

    def _prepare(self) -> _Statement:
        query: Any = self._build().query.chain(sql.UpdateQuery)
        query.add_update_values(self._changes)
        compiler = query.get_compiler(DEFAULT_DB_ALIAS)
        text, params = compiler.as_sql()
        return _Statement(text, params, compiler)


class PreparedInsert:
    """A new row of a model. columns: attribute names, such as "pair_id", that are given each time.

    Those that are left out have no value of Django's: they need one of the database.
    """

    def __init__(self, model: type[models.Model], *columns: str) -> None:
        self._model = model
        self._columns = columns

    def run(self, **values: Any) -> None:
        """Insert a row of these values."""
        own = connections[DEFAULT_DB_ALIAS]
        statement = _kept(own, self, self._prepare)
        with _cursor(own) as cursor:
            cursor.execute(statement.sql, statement.fill(values, own))

    def _prepare(self) -> _Statement:
        fields = {field.attname: field for field in self._model._meta.concrete_fields}
        kinds = [fields[name] for name in self._columns]
        quote = connection.ops.quote_name
        names = ", ".join(quote(str(kind.column)) for kind in kinds)
        places = ", ".join("%s" for _ in kinds)
        return _Statement(
            f"INSERT INTO {quote(self._model._meta.db_table)} ({names}) VALUES ({places})",  # noqa: S608
            [Slot(name, kind) for name, kind in zip(self._columns, kinds, strict=True)],
            compiler=None,
        )


def _reading(rows_qs: "QuerySet[Any, Any]") -> _Statement:
    query = rows_qs.query
    compiler: Any = query.get_compiler(DEFAULT_DB_ALIAS)
    text, params = compiler.as_sql()
    columns = [column for column, _, _ in compiler.select[: compiler.col_count]]
    return _Statement(
        text,
        params,
        compiler,
        is_locking=query.select_for_update and connection.features.has_select_for_update,
        converters=compiler.get_converters(columns),
    )


# `own` is the connection itself: `django.db.connection` looks it up again with every attribute


def _fetch(own: Any, statement: _Statement, values: Mapping[str, Any]) -> list[Any]:
    if statement.is_locking and own.get_autocommit():
        # Django asks this while it builds the SQL, so only once
        raise TransactionManagementError("Rows are locked only within a transaction.")
    with _cursor(own) as cursor:
        cursor.execute(statement.sql, statement.fill(values, own))
        rows = cursor.fetchall()
    if not statement.converters:
        return list(rows)
    return [tuple(row) for row in statement.compiler.apply_converters(rows, statement.converters)]


@contextmanager
def _cursor(own: Any) -> Iterator[Any]:
    """A cursor that has PostgreSQL plan a statement once and keep the plan; on SQLite as ever.

    As ever also where statements are logged: of a planned one the log would not have the text.
    """
    if own.vendor != "postgresql" or own.queries_logged:
        with own.cursor() as cursor:
            yield cursor
        return
    # what Django's own `cursor` does, but with another kind of cursor
    from django.db.backends.postgresql.base import ServerBindingCursor  # noqa: PLC0415

    make: Any = ServerBindingCursor
    own.close_if_health_check_failed()
    own.ensure_connection()
    server = own.connection
    with own.wrap_database_errors:
        cursor = own._prepare_cursor(make(server))
    # only meanwhile: psycopg keeps the texts of the last hundred statements that it might have
    # planned, with all their values, which took up to 150 MiB beside an import
    server.prepare_threshold = PLANNED_AFTER
    try:
        with cursor:
            yield cursor
    finally:
        server.prepare_threshold = None


def _made(shape: _Shape, row: Sequence[Any]) -> Any:
    end = shape.start + len(shape.attributes)
    made = shape.model.from_db(DEFAULT_DB_ALIAS, shape.attributes, row[shape.start : end])
    for populator in shape.populators:
        populator.populate(row, made)
    for name, place in shape.annotations.items():
        setattr(made, name, row[place])
    return made


def _kept(own: Any, owner: object, prepare: Callable[[], Any]) -> Any:
    """The statement as this connection keeps it: a compiler belongs to one connection."""
    kept: dict[object, Any] = vars(own).setdefault(_KEPT, {})
    if owner not in kept:
        kept[owner] = prepare()
    return kept[owner]
