"""`list_accounts`: who can sign in, who is suspended, who administers."""

from dataclasses import asdict
from typing import Any

from judgments.management.command import RefusingCommand


class Command(RefusingCommand):
    help = "List the accounts of the installation, with their state and roles."

    def work(self, **options: Any) -> dict[str, Any]:
        from judgments.accounts.queries import AccountRow, list_accounts

        rows = list_accounts()
        if not options["json"]:
            for row in rows:
                self.stdout.write("\t".join(_columns(row)))
        times = ("last_login", "suspended_at")

        def plain(row: AccountRow) -> dict[str, Any]:
            values = asdict(row)
            return values | {name: values[name] and values[name].isoformat() for name in times}

        return {"accounts": [plain(row) for row in rows]}


def _columns(row: Any) -> tuple[str, ...]:
    """A line for people: user name, state, roles, last sign-in, full name."""
    roles = [f"{slug}:{role}" for slug, role in row.collections.items()]
    what = ", ".join(["administrator"] * row.is_administrator + roles) or "–"
    last = f"{row.last_login:%Y-%m-%d}" if row.last_login else "never"
    return row.username, row.state, what, f"{row.tokens} tokens", last, row.name
