"""The app in which people label."""

from django.apps import AppConfig

from judgments.named import Named
from judgments.triggers import AppendOnly, keep_append_only

APPEND_ONLY = [
    AppendOnly("annotation_guidelinerevision"),
    # what was answered can be deleted, what came of it can't
    AppendOnly("annotation_judgeattempt", empties=("answer", "detail")),
    AppendOnly("annotation_judgerevision"),
    AppendOnly("annotation_machinelabel"),
    AppendOnly("annotation_pool"),
    AppendOnly("annotation_poolentry"),
    AppendOnly("annotation_label"),
    AppendOnly("annotation_adjudication"),
    AppendOnly("annotation_standin", closes="shown_id"),
    AppendOnly("annotation_goldcheck"),
    AppendOnly("annotation_traininganswer"),
    AppendOnly("annotation_feedback"),
    AppendOnly("annotation_reopening"),
    AppendOnly("annotation_onemorelabel"),
    AppendOnly("annotation_withdrawnwish"),
    # what a lead wrote to a person goes with the person
    AppendOnly("annotation_checkaction", empties=("message",)),
    AppendOnly("annotation_message"),
    AppendOnly("annotation_review"),
    AppendOnly("annotation_announcement"),
    AppendOnly("annotation_announcementread"),
    AppendOnly("annotation_withdrawnannouncement"),
]


class AnnotationConfig(AppConfig):
    name = "annotation"
    append_only = APPEND_ONLY

    def ready(self) -> None:
        # these need the models, which are there only now
        from annotation.machine_judges.sources import MACHINE_LABELS  # noqa: PLC0415
        from judgments.archiving.in_use import register as register_open  # noqa: PLC0415
        from judgments.collections.overview_parts import register  # noqa: PLC0415
        from judgments.jobs.kinds import register as register_job  # noqa: PLC0415
        from judgments.lists.changed_documents import register as register_count  # noqa: PLC0415
        from judgments.lists.label_quality import register as register_verdict  # noqa: PLC0415
        from judgments.versions.machine_sources import register as register_source  # noqa: PLC0415

        keep_append_only(self, self.append_only)
        register(
            Named("annotation.dashboards.overview.list_steps"),
            Named("annotation.dashboards.overview.list_standings"),
        )
        register_verdict(Named("annotation.quality.list_reports.get_list_verdict"))
        register_count(Named("annotation.changed_documents.queries.count_changed"))
        register_open(Named("annotation.campaigns.archiving.list_open_names"))
        register_source(MACHINE_LABELS)
        register_job("import_labels", Named("annotation.imports.services.work_on_labels"))
        register_job("judge_pairs", Named("annotation.machine_judges.judging.judge_pairs"))
        register_job("grade_by_machine", Named("annotation.machine_judges.grading.work_on_grades"))
        register_job("choose_rule", Named("annotation.rule_change.services.work_on_rule"))
        register_job("change_plan", Named("annotation.rule_change.services.work_on_plan"))
