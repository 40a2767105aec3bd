"""The app that computes."""

from typing import Any

from django.apps import AppConfig

from judgments.jobs.kinds import register
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
        # services need the models, which are there only now
        from evaluation.corrected.drawing import KIND as DRAW  # noqa: PLC0415
        from evaluation.corrected.drawing import work_on_draw  # noqa: PLC0415
        from evaluation.leaderboards.overview import list_standings, list_steps  # noqa: PLC0415
        from evaluation.live_rankers.services import KIND  # noqa: PLC0415
        from evaluation.live_rankers.taking import take_snapshot  # noqa: PLC0415
        from evaluation.live_rankers.vectors import KIND as VECTORS  # noqa: PLC0415
        from evaluation.live_rankers.vectors import work_on_vectors  # noqa: PLC0415
        from evaluation.runs.services import work_on_run  # noqa: PLC0415
        from judgments.collections.overview_parts import register as register_overview  # noqa: PLC0415

        register("import_run", work_on_run)
        register(DRAW, work_on_draw)
        register(KIND, take_snapshot)
        register(VECTORS, work_on_vectors)
        register_overview(list_steps, list_standings)
        version_committed.connect(wake_refresh, dispatch_uid="evaluation.refresh")


def wake_refresh(*, list_id: int, **_: Any) -> None:
    """A list has a new version: wake a worker to evaluate what is due."""
    wake("evaluation.refresh", list_id)
