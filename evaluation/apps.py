"""The app that computes."""

from typing import Any

from django.apps import AppConfig

from judgments.jobs.kinds import register
from judgments.named import Named
from judgments.signals import version_committed
from judgments.triggers import AppendOnly, keep_append_only
from judgments.waking import wake

APPEND_ONLY = [
    AppendOnly("evaluation_ranking"),
    AppendOnly("evaluation_runalias"),
    AppendOnly("evaluation_measureset"),
    AppendOnly("evaluation_liverevision"),
    AppendOnly("evaluation_queryvectors"),
    AppendOnly("evaluation_queryvector"),
    AppendOnly("evaluation_snapshotanswer"),
    AppendOnly("evaluation_canarylook"),
    AppendOnly("evaluation_datasetlook"),
    AppendOnly("evaluation_datasetfigures"),
    # what is computed at versions between head and releases are thinned with age
    AppendOnly("evaluation_evaluation", deletable=True),
    AppendOnly("evaluation_toolvalues", deletable=True),
    AppendOnly("evaluation_sampleevaluation", deletable=True),
    AppendOnly("evaluation_correctedevaluation", deletable=True),
]


class EvaluationConfig(AppConfig):
    name = "evaluation"
    append_only = APPEND_ONLY

    def ready(self) -> None:
        keep_append_only(self, self.append_only)
        from judgments.collections.overview_parts import register as register_overview  # noqa: PLC0415

        register("import_run", Named("evaluation.runs.services.work_on_run"))
        register("draw_for_people", Named("evaluation.corrected.drawing.work_on_draw"))
        register("take_snapshot", Named("evaluation.live_rankers.taking.take_snapshot"))
        register("import_vectors", Named("evaluation.live_rankers.vectors.work_on_vectors"))
        register_overview(
            Named("evaluation.leaderboards.overview.list_steps"),
            Named("evaluation.leaderboards.overview.list_standings"),
        )
        version_committed.connect(wake_refresh, dispatch_uid="evaluation.refresh")


def wake_refresh(*, list_id: int, **_: Any) -> None:
    """A list has a new version: wake a worker to evaluate what is due."""
    wake("evaluation.refresh", list_id)
