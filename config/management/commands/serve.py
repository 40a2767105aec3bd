"""`serve`: the web server and its worker in one process, on the configured database."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone


class Command(BaseCommand):
    help = "Run the web server and a worker in one process, on this machine only."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise CommandError(
                "serve needs the embedded mode; in production, use docker-compose.yml"
            )
        from config.database.migrating import migrate_what_is_due
        from config.demo.live_search import make_server
        from config.embedded import EmbeddedServer
        from judgments.members.services import is_set_up, setup_code

        migrate_what_is_due()
        host, port = options["host"], options["port"]
        search = make_server(port, at=timezone.now())

        def ready() -> None:
            if search is not None:
                search.start()
            self.stdout.write(f"Touchstone is at http://{host}:{port}/  (Ctrl+C to stop)")
            if not is_set_up():
                link = f"http://{host}:{port}/setup?code={setup_code()}"
                self.stdout.write(f"No accounts yet. Create the first one: {link}")
            self.stdout.flush()

        EmbeddedServer(host=host, port=port, on_ready=ready).run()
