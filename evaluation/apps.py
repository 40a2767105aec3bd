"""The app that computes."""

from django.apps import AppConfig

from judgments.triggers import AppendOnly, keep_append_only

APPEND_ONLY = [
    AppendOnly("evaluation_ranking"),
    AppendOnly("evaluation_measureset"),
    # the stored evaluations between head and releases are thinned with age
    AppendOnly("evaluation_evaluation", deletable=True),
]


class EvaluationConfig(AppConfig):
    name = "evaluation"
    append_only = APPEND_ONLY

    def ready(self) -> None:
        keep_append_only(self, self.append_only)
