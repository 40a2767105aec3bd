"""The hub app."""

from django.apps import AppConfig

from judgments.triggers import AppendOnly, keep_append_only

APPEND_ONLY = [
    AppendOnly("judgments_judgment", closes="until"),
    AppendOnly("judgments_judgmentversion"),
    AppendOnly("judgments_release"),
    AppendOnly("judgments_auditentry"),
]


class JudgmentsConfig(AppConfig):
    name = "judgments"
    append_only = APPEND_ONLY

    def ready(self) -> None:
        keep_append_only(self, self.append_only)
