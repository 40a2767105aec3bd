"""Annotation's addresses."""

from django.urls import URLPattern, path

from annotation.adjudication import queue_views as queue
from annotation.adjudication import views as pairs
from annotation.assignment import views as assignment
from annotation.budgets import views as budgets
from annotation.changed_documents import views as changed
from annotation.dashboards import monitoring_views as monitoring
from annotation.dashboards import views as campaigns
from annotation.gold import views as gold
from annotation.guidelines import views as guidelines
from annotation.imports import views as label_imports
from annotation.labelling import script_views as scripts
from annotation.labelling import views as labelling
from annotation.leave_one_out import views as without
from annotation.machine_judges import views as judges
from annotation.machine_judges.takes_views import list_takes
from annotation.overlap_requests import views as overlap
from annotation.pooling import next_campaign_views as judging_next
from annotation.pooling import snapshot_pool_views as snapshot_pools
from annotation.pooling import views as pools
from annotation.quality import views as quality
from annotation.questions import views as questions
from annotation.retention.views import retention
from annotation.reviews import views as reviews
from annotation.rule_change import views as rules
from annotation.set_aside import views as leaving_out
from annotation.training import views as training
from judgments.pages.languages import translated

C = "c/<slug:slug>"
K = f"{C}/campaigns/<uuid:campaign_id>"
Q = f"{C}/lists/<slug:list_slug>/quality"
G = f"{C}/guidelines/<int:guideline_id>"
J = f"{C}/machine-judges/<int:judge_id>"

urlpatterns: list[URLPattern] = [
    path("label/<uuid:campaign_id>", translated(labelling.label), name="label"),
    path(
        "label/<uuid:campaign_id>/guideline",
        translated(labelling.label_guideline),
        name="label-guideline",
    ),
    path(
        "label/preferences",
        translated(labelling.labelling_preferences),
        name="labelling-preferences",
    ),
    path("label/script-<str:digest>.js", scripts.label_script, name="label-script"),
    path("label/first-<str:digest>.js", scripts.label_first, name="label-first"),
    path("label/style-<str:digest>.css", scripts.label_style, name="label-style"),
    path("label/<uuid:campaign_id>/pictures/<uuid:name>", labelling.picture, name="label-picture"),
    path(
        "label/<uuid:campaign_id>/feedback", translated(labelling.feedback), name="label-feedback"
    ),
    path("label/<uuid:campaign_id>/mine", translated(labelling.own_work), name="label-own-work"),
    path(
        "label/<uuid:campaign_id>/mine/labels",
        translated(labelling.own_labels),
        name="label-own-labels",
    ),
    path(
        "label/<uuid:campaign_id>/skips/<uuid:skip_id>/return",
        translated(monitoring.skip_return),
        name="skip-return",
    ),
    path(
        "label/<uuid:campaign_id>/questions",
        translated(questions.own_questions),
        name="label-questions",
    ),
    path("label/<uuid:campaign_id>/questions/ask", translated(questions.ask), name="label-ask"),
    path(
        "label/<uuid:campaign_id>/questions/<uuid:question_id>",
        translated(questions.own_question),
        name="label-question",
    ),
    path("label/<uuid:campaign_id>/news", translated(questions.news), name="label-news"),
    path("overview", campaigns.work_overview, name="work-overview"),
    path("my-campaigns", translated(campaigns.my_campaigns), name="my-campaigns"),
    path(f"{C}/campaigns", campaigns.campaigns, name="campaigns"),
    path(f"{C}/campaigns/new", campaigns.campaign_create, name="campaign-create"),
    path(f"{C}/campaigns/import", label_imports.labels_import, name="labels-import"),
    path(K, campaigns.campaign_page, name="campaign"),
    path(f"{K}/change", campaigns.campaign_change, name="campaign-change"),
    path(f"{K}/open", campaigns.campaign_open, name="campaign-open"),
    path(f"{K}/close", campaigns.campaign_close, name="campaign-close"),
    path(f"{K}/archive", campaigns.campaign_archive, name="campaign-archive"),
    path(f"{K}/restore", campaigns.campaign_restore, name="campaign-restore"),
    path(f"{K}/approve", campaigns.campaign_approve, name="campaign-approve"),
    path(f"{K}/assignment", assignment.assignment, name="campaign-assignment"),
    path(
        f"{K}/assignment/<int:rule_id>/remove",
        assignment.assignment_remove,
        name="campaign-assignment-remove",
    ),
    path(f"{K}/reviews", reviews.reviews, name="campaign-reviews"),
    path("review/<uuid:campaign_id>", reviews.review, name="review"),
    path(
        "review/<uuid:campaign_id>/pictures/<uuid:name>",
        reviews.review_picture,
        name="review-picture",
    ),
    path(f"{K}/budget", budgets.campaign_budget, name="campaign-budget"),
    path(f"{C}/budget", budgets.collection_budget, name="collection-budget"),
    path(f"{K}/pool", pools.pool, name="campaign-pool"),
    path(f"{K}/pool/preview", pools.pool_preview, name="campaign-pool-preview"),
    path(f"{K}/pool/snapshots", snapshot_pools.pool_snapshots, name="campaign-pool-snapshots"),
    path(f"{K}/pool/top-up", pools.top_up, name="campaign-top-up"),
    path(f"{K}/pairs", pairs.pairs, name="campaign-pairs"),
    path(f"{K}/rule", rules.campaign_rule, name="campaign-rule"),
    path(f"{K}/rule/<str:rule>", rules.campaign_rule_state, name="campaign-rule-state"),
    path(f"{K}/aside", leaving_out.campaign_aside, name="campaign-aside"),
    path(f"{K}/aside/<str:key>", leaving_out.campaign_aside_state, name="campaign-aside-state"),
    path(f"{K}/quality", quality.quality, name="campaign-quality"),
    path(f"{K}/quality/state", quality.quality_state, name="campaign-quality-state"),
    path(f"{K}/quality.csv", quality.quality_export, {"form": "csv"}, name="campaign-quality-csv"),
    path(
        f"{K}/quality.json", quality.quality_export, {"form": "json"}, name="campaign-quality-json"
    ),
    path(f"{K}/quality/summary", quality.quality_summary, name="campaign-quality-summary"),
    path(
        f"{K}/quality/people/<str:username>",
        quality.quality_person,
        name="campaign-quality-person",
    ),
    path(f"{K}/labels.csv", quality.labels_export, {"form": "csv"}, name="campaign-labels-csv"),
    path(
        f"{K}/labels.jsonl", quality.labels_export, {"form": "jsonl"}, name="campaign-labels-jsonl"
    ),
    path(
        f"{K}/labels.parquet",
        quality.labels_export,
        {"form": "parquet"},
        name="campaign-labels-parquet",
    ),
    path(f"{K}/quality/overlap", overlap.overlap, name="campaign-overlap"),
    path(
        f"{K}/quality/overlap/<uuid:batch>/withdraw",
        overlap.overlap_withdraw,
        name="campaign-overlap-withdraw",
    ),
    path(Q, quality.list_quality, name="list-quality"),
    path(f"{Q}.csv", quality.list_quality_export, {"form": "csv"}, name="list-quality-csv"),
    path(f"{Q}.json", quality.list_quality_export, {"form": "json"}, name="list-quality-json"),
    path(f"{K}/queue", queue.queue, name="campaign-queue"),
    path(f"{K}/queue/near", queue.near, name="campaign-queue-near"),
    path(f"{K}/queue/<int:pair_id>", queue.decide, name="campaign-decide"),
    path(f"{K}/queue/<int:pair_id>/more", queue.one_more, name="campaign-one-more"),
    path(f"{C}/pairs/<int:pair_id>/reopen", queue.reopen_pair, name="pair-reopen"),
    path(f"{K}/gold", gold.gold, name="campaign-gold"),
    path(f"{K}/gold/add", gold.gold_add, name="campaign-gold-add"),
    path(f"{K}/gold.csv", gold.gold_file, name="campaign-gold-csv"),
    path(f"{K}/gold/rules", gold.rules, name="campaign-rules"),
    path(f"{C}/check-actions/<int:action_id>/undo", gold.action_undo, name="check-action-undo"),
    path(f"{K}/gold/take", gold.gold_take, name="campaign-gold-take"),
    path(f"{C}/gold/<int:item_id>/retire", gold.gold_retire, name="gold-retire"),
    path(f"{C}/pairs/<int:pair_id>/gold", gold.pair_gold, name="pair-gold"),
    path(f"{K}/training", training.training, name="campaign-training"),
    path(
        f"{K}/training/<str:username>/pass", training.training_pass, name="campaign-training-pass"
    ),
    path(
        f"{K}/training/<str:username>/again",
        training.training_again,
        name="campaign-training-again",
    ),
    path(f"{K}/questions", questions.questions, name="campaign-questions"),
    path(f"{K}/questions/<uuid:question_id>", questions.question, name="campaign-question"),
    path(
        f"{K}/questions/<uuid:question_id>/close",
        questions.question_close,
        name="campaign-question-close",
    ),
    path(
        f"{K}/questions/<uuid:question_id>/reopen",
        questions.question_reopen,
        name="campaign-question-reopen",
    ),
    path(f"{K}/announcements", questions.announcements, name="campaign-announcements"),
    path(
        f"{K}/announcements/<uuid:announcement_id>/withdraw",
        questions.announcement_withdraw,
        name="campaign-announcement-withdraw",
    ),
    path(f"{C}/retention", retention, name="retention"),
    path(f"{K}/live", monitoring.campaign_live, name="campaign-live"),
    path(
        f"{K}/people/<str:username>/release",
        monitoring.leases_release,
        name="campaign-leases-release",
    ),
    path(
        f"{K}/skips/<uuid:skip_id>/give-back",
        monitoring.skip_give_back,
        name="campaign-skip-give-back",
    ),
    path(f"{K}/people", campaigns.campaign_people_add, name="campaign-people-add"),
    path(
        f"{K}/people/<str:username>/remove",
        campaigns.campaign_person_remove,
        name="campaign-person-remove",
    ),
    path(f"{C}/pairs/<int:pair_id>", pairs.pair, name="pair"),
    path(
        f"{C}/lists/<slug:list_slug>/changed", changed.changed_documents, name="changed-documents"
    ),
    path(
        f"{C}/lists/<slug:list_slug>/changed/relabel",
        changed.changed_relabel,
        name="changed-relabel",
    ),
    path(
        f"{C}/lists/<slug:list_slug>/changed/choose",
        changed.changed_choose,
        name="changed-choose",
    ),
    path(f"{C}/lists/<slug:list_slug>/pair", pairs.pair_of_list, name="pair-of-list"),
    path(
        f"{C}/lists/<slug:list_slug>/judge-next/campaign",
        judging_next.next_campaign,
        name="next-campaign",
    ),
    path(f"{C}/lists/<slug:list_slug>/compare/without", without.without, name="compare-without"),
    path(
        f"{C}/lists/<slug:list_slug>/versions/<int:number>/people",
        pairs.version_people,
        name="version-people",
    ),
    path(f"{C}/machine-judges", judges.machine_judges, name="machine-judges"),
    path(f"{C}/machine-judges/new", judges.machine_judge_create, name="machine-judge-create"),
    path(J, judges.machine_judge, name="machine-judge"),
    path(f"{J}/edit", judges.machine_judge_edit, name="machine-judge-edit"),
    path(f"{J}/revisions/<int:number>", judges.machine_judge, name="machine-judge-revision"),
    path(
        f"{J}/secret/remove",
        judges.machine_judge_secret_remove,
        name="machine-judge-secret-remove",
    ),
    path(f"{J}/agreement", judges.machine_judge_trust, name="machine-judge-trust"),
    path(f"{J}/family", judges.machine_judge_family, name="machine-judge-family"),
    path(f"{J}/grade", judges.machine_judge_grade, name="machine-judge-grade"),
    path(
        f"{C}/lists/<slug:list_slug>/machine-grades/remove",
        judges.list_machine_remove,
        name="list-machine-remove",
    ),
    path(f"{C}/lists/<slug:list_slug>/takes", list_takes, name="list-takes"),
    path(f"{J}/budget", judges.machine_judge_budget, name="machine-judge-budget"),
    path(f"{J}/campaigns/start", judges.judge_campaign_start, name="judge-campaign-start"),
    path(
        f"{C}/machine-judges/campaigns/<uuid:public_id>",
        judges.judge_campaign,
        name="judge-campaign",
    ),
    path(
        f"{C}/machine-judges/campaigns/<uuid:public_id>/stop",
        judges.judge_campaign_stop,
        name="judge-campaign-stop",
    ),
    path(f"{C}/guidelines", guidelines.guidelines, name="guidelines"),
    path(f"{C}/guidelines/new", guidelines.guideline_create, name="guideline-create"),
    path(f"{C}/guidelines/preview", guidelines.guideline_preview, name="guideline-preview"),
    path(G, guidelines.guideline, name="guideline"),
    path(f"{G}/edit", guidelines.guideline_revise, name="guideline-revise"),
    path(f"{G}/revisions/<int:number>", guidelines.guideline, name="guideline-revision"),
]
