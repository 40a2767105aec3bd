"""The hub app."""

from django.apps import AppConfig
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.db.models.signals import post_migrate

from judgments.named import Named
from judgments.triggers import AppendOnly, announce_access, keep_append_only

APPEND_ONLY = [
    AppendOnly("judgments_judgment", closes="until"),
    AppendOnly("judgments_judgmentversion"),
    AppendOnly("judgments_querymetadatahistory"),
    AppendOnly("judgments_release"),
    AppendOnly("judgments_setlook"),
    AppendOnly("judgments_auditentry", closes="seal_id"),
    AppendOnly("judgments_auditseal"),
    AppendOnly("judgments_trafficframe"),
    # what users searched for: can be deleted, which changes no sample
    AppendOnly("judgments_trafficblock", deletable=True),
    AppendOnly("judgments_clicklog"),
    AppendOnly("judgments_clickblock"),
    AppendOnly("judgments_clickgrading"),
    AppendOnly("judgments_interleavingexperiment"),
    AppendOnly("judgments_sampleplan"),
    AppendOnly("judgments_sampledquery"),
    AppendOnly("judgments_queryorigin"),
    AppendOnly("judgments_webhookattempt", deletable=True),  # with its delivery, when it is old
    AppendOnly("judgments_zeroresultquery"),
]


class JudgmentsConfig(AppConfig):
    name = "judgments"
    append_only = APPEND_ONLY

    def ready(self) -> None:
        from judgments.accounts.sessions import note_sign_in  # noqa: PLC0415
        from judgments.accounts.sign_in_log import note_wrong_password  # noqa: PLC0415
        from judgments.collections.overview_parts import register as register_steps  # noqa: PLC0415
        from judgments.jobs.kinds import register  # noqa: PLC0415  (needs the models)
        from judgments.messages.channels import register as register_channel  # noqa: PLC0415
        from judgments.messages.email import CHANNEL  # noqa: PLC0415
        from judgments.storage.bulk import install_analyze  # noqa: PLC0415
        from judgments.webhooks.delivering import CHANNEL as WEBHOOK_CHANNEL  # noqa: PLC0415

        # before axes does, which is installed after this app
        user_login_failed.connect(note_wrong_password, dispatch_uid="judgments.failed_sign_in")
        user_logged_in.connect(note_sign_in, dispatch_uid="judgments.sign_in")
        keep_append_only(self, self.append_only)
        post_migrate.connect(announce_access, sender=self, dispatch_uid="judgments.access")
        post_migrate.connect(install_analyze, sender=self, dispatch_uid="judgments.analyze")
        register("import_queries", Named("judgments.imports.services.work_on_queries"))
        register("import_documents", Named("judgments.imports.services.work_on_documents"))
        register("import_qrels", Named("judgments.imports.services.work_on_qrels"))
        register("find_pictures", Named("judgments.pictures.fetching.find_pictures"))
        register("fetch_pictures", Named("judgments.pictures.fetching.fetch_pictures"))
        register("import_pictures", Named("judgments.pictures.archives.store_files"))
        register("import_traffic", Named("judgments.traffic.services.work_on_traffic"))
        register("import_clicks", Named("judgments.clicks.services.work_on_clicks"), heavy=True)
        register("import_interleaving", Named("judgments.clicks.interleaving.work_on_interleaving"))
        register("grade_by_clicks", Named("judgments.clicks.grading.work_on_grades"))
        register("draw_sample", Named("judgments.samples.services.work_on_sample"))
        register_steps(Named("judgments.collections.overview.list_own_steps"))
        register_channel(CHANNEL)
        register_channel(WEBHOOK_CHANNEL)
