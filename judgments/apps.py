"""The hub app."""

from django.apps import AppConfig

from judgments.triggers import AppendOnly, keep_append_only

APPEND_ONLY = [
    AppendOnly("judgments_judgment", closes="until"),
    AppendOnly("judgments_judgmentversion"),
    AppendOnly("judgments_pasttraits"),
    AppendOnly("judgments_release"),
    AppendOnly("judgments_setlook"),
    AppendOnly("judgments_auditentry"),
]


class JudgmentsConfig(AppConfig):
    name = "judgments"
    append_only = APPEND_ONLY

    def ready(self) -> None:
        from judgments.jobs import register  # noqa: PLC0415  (needs the models)
        from judgments.overview import register as register_steps  # noqa: PLC0415
        from judgments.selectors.overview import list_own_steps  # noqa: PLC0415
        from judgments.services import importing  # noqa: PLC0415

        keep_append_only(self, self.append_only)
        register("import_queries", importing.work_on_queries)
        register("import_documents", importing.work_on_documents)
        register("import_qrels", importing.work_on_qrels)
        register_steps(list_own_steps)
