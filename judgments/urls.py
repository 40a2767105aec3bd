"""The hub's addresses. None ends in a slash."""

from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, path

from judgments.accounts import second_factor_views as second_factor
from judgments.accounts import views as account
from judgments.archiving import views as archiving
from judgments.clicks import views as clicks
from judgments.collections import home_views as home
from judgments.collections import views as collections
from judgments.content import views as content
from judgments.jobs import views as jobs
from judgments.lists import views as lists
from judgments.members import views as members
from judgments.messages import views as messages
from judgments.pages.confirming import confirmed
from judgments.pages.languages import translated
from judgments.pictures import views as pictures
from judgments.samples import views as samples
from judgments.sets import views as sets
from judgments.traffic import views as traffic
from judgments.webhooks import views as webhooks

C = "c/<slug:slug>"
L = f"{C}/lists/<slug:list_slug>"


def _webhooks(prefix: str, name: str) -> list[URLPattern]:
    """The pages of a collection's webhooks, or of the installation's."""
    one = f"{prefix}webhooks/<uuid:endpoint_id>"
    return [
        path(f"{prefix}webhooks", webhooks.webhooks, name=f"{name}webhooks"),
        path(one, webhooks.webhook, name=f"{name}webhook"),
        path(f"{one}/rotate", webhooks.webhook_rotate, name=f"{name}webhook-rotate"),
        path(
            f"{one}/deliveries/<uuid:delivery_id>/replay",
            webhooks.webhook_replay,
            name=f"{name}webhook-replay",
        ),
        path(f"{one}/<slug:act>", webhooks.webhook_act, name=f"{name}webhook-act"),
    ]


urlpatterns: list[URLPattern] = [
    path("", translated(home.home), name="home"),
    path("login", translated(account.SignIn.as_view()), name="login"),
    path("login/code", translated(second_factor.sign_in_code), name="sign-in-code"),
    path("login/key", translated(second_factor.sign_in_key), name="sign-in-key"),
    path("logout", LogoutView.as_view(), name="logout"),
    path("setup", account.setup, name="setup"),
    path("invitations/<str:token>", translated(account.invitation), name="invitation"),
    path("tokens", confirmed(account.token_list), name="tokens"),
    path("tokens/<str:token_key>/delete", account.token_delete, name="token-delete"),
    path("password", translated(account.ChangePassword.as_view()), name="password"),
    path("language", translated(account.language), name="language"),
    path("password/forgotten", translated(account.password_forgotten), name="password-forgotten"),
    path(
        "password/reset/<uuid:account>/<str:token>",
        translated(account.password_reset),
        name="password-reset",
    ),
    path("sessions", translated(account.session_list), name="sessions"),
    path("sessions/end", translated(account.sessions_end), name="sessions-end"),
    path("sessions/<str:key>/end", translated(account.session_end), name="session-end"),
    path("second-factor", translated(second_factor.second_factor), name="second-factor"),
    path(
        "second-factor/begin",
        confirmed(translated(second_factor.second_factor_begin)),
        name="second-factor-begin",
    ),
    path(
        "second-factor/key",
        translated(second_factor.security_key_add),
        name="security-key-add",
    ),
    path(
        "second-factor/<slug:act>",
        translated(second_factor.second_factor_change),
        name="second-factor-change",
    ),
    path("notices", translated(messages.notices), name="notices"),
    path("notices/read", messages.notices_read, name="notices-read"),
    path("notices/<uuid:notice_id>", translated(messages.notice_open), name="notice-open"),
    path("account/messages", translated(messages.message_settings), name="message-settings"),
    path("account/address", translated(messages.message_address), name="message-address"),
    path(
        "account/address/<str:token>", translated(messages.address_confirm), name="address-confirm"
    ),
    path("audit", members.site_audit, name="site-audit"),
    path("audit/file", members.site_audit_file, name="site-audit-file"),
    path("collections/new", collections.collection_create, name="collection-create"),
    path(C, collections.collection, name="collection"),
    path(f"{C}/archive", archiving.collection_archive, name="collection-archive"),
    path(f"{C}/restore", archiving.collection_restore, name="collection-restore"),
    path(f"{C}/queries", content.queries, name="queries"),
    path(f"{C}/queries/upload", collections.upload, {"kind": "queries"}, name="queries-upload"),
    path(f"{C}/query/<path:qid>", content.query, name="query"),
    path(f"{C}/documents", content.documents, name="documents"),
    path(
        f"{C}/documents/upload", collections.upload, {"kind": "documents"}, name="documents-upload"
    ),
    path(
        f"{C}/queries/upload/preview",
        collections.upload_preview,
        {"kind": "queries"},
        name="queries-upload-preview",
    ),
    path(
        f"{C}/documents/upload/preview",
        collections.upload_preview,
        {"kind": "documents"},
        name="documents-upload-preview",
    ),
    path(f"{C}/document/<path:docid>", content.document, name="document"),
    path(f"{C}/pictures", pictures.pictures, name="pictures"),
    path(f"{C}/pictures/upload", pictures.pictures_upload, name="pictures-upload"),
    path(f"{C}/pictures/fetch", pictures.pictures_fetch, name="pictures-fetch"),
    path(f"{C}/pictures/<uuid:name>", pictures.picture, name="picture"),
    path(f"{C}/members", confirmed(members.members), name="members"),
    path(f"{C}/members/<str:username>/role", confirmed(members.member_role), name="member-role"),
    path(f"{C}/members/<str:username>/tags", members.member_tags, name="member-tags"),
    path(f"{C}/members/<str:username>/end", members.member_end, name="member-end"),
    path(
        f"{C}/invitations/<int:invitation_id>/withdraw",
        members.invitation_withdraw,
        name="invitation-withdraw",
    ),
    path(f"{C}/audit", members.audit, name="audit"),
    path(f"{C}/audit/file", members.audit_file, name="audit-file"),
    path(f"{C}/jobs/<uuid:public_id>", jobs.job, name="job"),
    path(f"{C}/sets", sets.sets, name="sets"),
    path(f"{C}/sets/new", sets.set_create, name="set-create"),
    path(f"{C}/sets/<slug:set_slug>", sets.saved_set, name="set"),
    path(f"{C}/sets/<slug:set_slug>/change", sets.set_change, name="set-change"),
    path(f"{C}/sets/<slug:set_slug>/archive", sets.set_archive, name="set-archive"),
    path(f"{C}/sets/<slug:set_slug>/restore", sets.set_restore, name="set-restore"),
    path(f"{C}/traffic", traffic.traffic, name="traffic"),
    path(f"{C}/traffic/upload", traffic.traffic_upload, name="traffic-upload"),
    path(f"{C}/traffic/upload/preview", traffic.traffic_preview, name="traffic-upload-preview"),
    path(f"{C}/traffic/<int:number>", traffic.traffic_frame, name="traffic-frame"),
    path(f"{C}/traffic/<int:number>/delete", traffic.traffic_delete, name="traffic-delete"),
    path(f"{C}/traffic/<int:number>/sample", samples.sample_create, name="sample-create"),
    path(f"{C}/clicks", clicks.click_logs, name="clicks"),
    path(
        f"{C}/clicks/interleaving/upload",
        clicks.interleaving_upload,
        name="interleaving-upload",
    ),
    path(f"{C}/clicks/interleaving/<int:number>", clicks.interleaving, name="interleaving"),
    path(f"{C}/clicks/upload", clicks.clicks_upload, name="clicks-upload"),
    path(f"{C}/clicks/<int:number>", clicks.click_log, name="click-log"),
    path(f"{C}/clicks/<int:number>/pairs", clicks.click_pairs, name="click-pairs"),
    path(f"{C}/clicks/<int:number>/people", clicks.click_people, name="click-people"),
    path(f"{C}/lists", lists.lists, name="lists"),
    path(f"{C}/lists/new", lists.list_create, name="list-create"),
    path(L, lists.list_page, name="list"),
    path(f"{L}/archive", archiving.list_archive, name="list-archive"),
    path(f"{L}/restore", archiving.list_restore, name="list-restore"),
    path(f"{L}/import", lists.list_import, name="list-import"),
    path(f"{L}/samples/<int:number>", samples.sample, name="sample"),
    path(f"{L}/samples/<int:number>/file", samples.sample_file, name="sample-file"),
    path(f"{L}/diff", lists.compare, name="diff-choose"),
    path(f"{L}/versions/<str:before>..<str:after>", lists.diff, name="diff"),
    path(f"{L}/versions/<str:name>", lists.version, name="version"),
    path(f"{L}/versions/<str:name>/qrels", lists.qrels, name="qrels"),
    path(f"{L}/versions/<str:name>/export", lists.export, name="export"),
    path(f"{L}/versions/<int:number>/release", confirmed(lists.release), name="release"),
    path(f"{L}/versions/<int:number>/revert", lists.revert, name="revert"),
    *_webhooks(f"{C}/", ""),
    *_webhooks("", "site-"),
]
