"""The sizes of tables and indexes, as the database reports them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.db import connection

from judgments.models import User
from judgments.permissions import check_administers

# (table, table or index, bytes). SQLite reads every page for it, PostgreSQL looks at the files.
STATEMENTS: Final = {
    "sqlite": (
        "SELECT m.tbl_name, m.name, s.pgsize FROM dbstat s JOIN sqlite_schema m ON m.name = s.name "
        "WHERE s.aggregate = TRUE"
    ),
    "postgresql": (
        "SELECT relname, relname, pg_table_size(oid) FROM pg_class "
        "WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace UNION ALL "
        "SELECT t.relname, i.relname, pg_relation_size(i.oid) FROM pg_index x "
        "JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid "
        "WHERE t.relkind = 'r' AND t.relnamespace = current_schema()::regnamespace"
    ),
}


@dataclass(frozen=True)
class TableSize:
    """Bytes on disk of a table without its indexes, and of each index, the largest first."""

    name: str
    size: int
    indexes: Mapping[str, int]

    @property
    def index_size(self) -> int:
        """Bytes of all its indexes."""
        return sum(self.indexes.values())

    @property
    def total(self) -> int:
        """Bytes of the table with its indexes."""
        return self.size + self.index_size


def list_table_sizes() -> list[TableSize]:
    """All tables of the installation, the largest with its indexes first."""
    with connection.cursor() as cursor:
        cursor.execute(STATEMENTS[connection.vendor])
        rows = sorted(cursor.fetchall(), key=lambda row: (-row[2], row[1]))
    tables = [
        TableSize(name, size, {index: own for of, index, own in rows if of == name != index})
        for table, name, size in rows
        if table == name
    ]
    return sorted(tables, key=lambda table: (-table.total, table.name))


def get_table_sizes(*, viewer: User) -> list[TableSize]:
    """`list_table_sizes`, for administrators."""
    check_administers(viewer)
    return list_table_sizes()
