"""`database_sizes`: bytes on disk by table and index."""

from dataclasses import asdict
from typing import Any

from judgments.management.command import RefusingCommand


class Command(RefusingCommand):
    help = "List the tables of the database with their indexes and sizes, the largest first."

    def work(self, **options: Any) -> dict[str, Any]:
        from config.database.queries import list_table_sizes

        tables = list_table_sizes()
        total = sum(table.total for table in tables)
        if not options["json"]:
            for table in tables:
                self.stdout.write(f"{table.name}\t{table.size}")
                for index, size in table.indexes.items():
                    self.stdout.write(f"  {index}\t{size}")
            self.stdout.write(f"total\t{total}")
        return {"tables": [asdict(table) for table in tables], "total": total}
