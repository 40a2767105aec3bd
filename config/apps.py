"""The one place that knows all three apps."""

import atexit
import gc

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        # Whatever process this is, a command too, wakes workers through the same broker.
        import config.celery  # noqa: PLC0415
        import config.durability  # noqa: PLC0415  (registers its check)
        import config.roles  # noqa: F401, PLC0415  (as well)
        from evaluation.canaries.page_parts import register  # noqa: PLC0415
        from judgments.named import Named  # noqa: PLC0415

        register(Named("config.demo.live_search.find_part"))
        # A process that ends looks through all objects for cycles, which takes up to a second.
        atexit.register(gc.freeze)
