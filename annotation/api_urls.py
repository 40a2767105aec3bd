"""Annotation's part of the REST interface."""

from django.urls import path

from annotation.adjudication import histories_api as histories
from annotation.assignment import api as assignment
from annotation.campaigns import archive_api as archiving
from annotation.changed_documents import api as changed
from annotation.gold import api as gold
from annotation.imports import api as label_imports
from annotation.labelling import api as labelling
from annotation.leave_one_out import api as without
from annotation.machine_judges import api as judges
from annotation.machine_judges.takes_api import ListTakes
from annotation.quality import api as quality
from annotation.questions import api as questions
from annotation.retention.api import CollectionRetention
from annotation.reviews import api as reviews
from annotation.set_aside import api as leaving_out
from judgments.pages.languages import translated

J = "collections/<slug:slug>/machine-judges"

urlpatterns = [
    path(
        "collections/<slug:slug>/lists/<slug:list_slug>/changed-documents",
        changed.ChangedDocuments.as_view(),
        name="api-changed-documents",
    ),
    path(
        "collections/<slug:slug>/lists/<slug:list_slug>/takes",
        ListTakes.as_view(),
        name="api-list-takes",
    ),
    path("collections/<slug:slug>/retention", CollectionRetention.as_view(), name="api-retention"),
    path(f"{J}/", judges.MachineJudges.as_view(), name="api-machine-judges"),
    path(f"{J}/<int:judge_id>/family", judges.JudgeFamily.as_view(), name="api-judge-family"),
    path(
        f"{J}/<int:judge_id>/campaigns/",
        judges.JudgeCampaigns.as_view(),
        name="api-judge-campaigns",
    ),
    path(
        f"{J}/<int:judge_id>/agreement",
        judges.JudgeAgreement.as_view(),
        name="api-judge-agreement",
    ),
    path(
        f"{J}/campaigns/<uuid:public_id>",
        judges.OneJudgeCampaign.as_view(),
        name="api-judge-campaign",
    ),
    path(
        "campaigns/<uuid:campaign_id>/next",
        translated(labelling.Next.as_view()),
        name="api-campaign-next",
    ),
    path(
        "campaigns/<uuid:campaign_id>/labels",
        translated(labelling.Labels.as_view()),
        name="api-campaign-labels",
    ),
    path(
        "campaigns/<uuid:campaign_id>/labels/file",
        quality.LabelFile.as_view(),
        name="api-campaign-labels-file",
    ),
    path(
        "campaigns/<uuid:campaign_id>/assignment",
        assignment.AssignmentRules.as_view(),
        name="api-campaign-assignment",
    ),
    path(
        "campaigns/<uuid:campaign_id>/assignment/<int:rule_id>/remove",
        assignment.AssignmentRuleRemove.as_view(),
        name="api-campaign-assignment-remove",
    ),
    path(
        "campaigns/<uuid:campaign_id>/review",
        reviews.OwnReview.as_view(),
        name="api-campaign-review",
    ),
    path(
        "campaigns/<uuid:campaign_id>/reviews",
        reviews.Reviews.as_view(),
        name="api-campaign-reviews",
    ),
    path(
        "campaigns/<uuid:campaign_id>/archive",
        archiving.CampaignArchive.as_view(),
        name="api-campaign-archive",
    ),
    path(
        "campaigns/<uuid:campaign_id>/restore",
        archiving.CampaignRestore.as_view(),
        name="api-campaign-restore",
    ),
    path("campaigns/<uuid:campaign_id>/gold", gold.Gold.as_view(), name="api-campaign-gold"),
    path(
        "campaigns/<uuid:campaign_id>/quality",
        quality.Quality.as_view(),
        name="api-campaign-quality",
    ),
    path(
        "campaigns/<uuid:campaign_id>/aside",
        leaving_out.Aside.as_view(),
        name="api-campaign-aside",
    ),
    path(
        "campaigns/<uuid:campaign_id>/aside/<int:action_id>/undo",
        leaving_out.AsideUndo.as_view(),
        name="api-campaign-aside-undo",
    ),
    path(
        "collections/<slug:slug>/lists/<slug:list_slug>/quality",
        quality.ListQuality.as_view(),
        name="api-list-quality",
    ),
    path(
        "collections/<slug:slug>/lists/<slug:list_slug>/labels",
        label_imports.LabelsImport.as_view(),
        name="api-list-labels",
    ),
    path(
        "collections/<slug:slug>/lists/<slug:list_slug>/pair",
        histories.PairHistory.as_view(),
        name="api-pair-history",
    ),
    path(
        "collections/<slug:slug>/lists/<slug:list_slug>/compare/without",
        without.ComparisonWithout.as_view(),
        name="api-compare-without",
    ),
    path(
        "campaigns/<uuid:campaign_id>/release",
        translated(labelling.Release.as_view()),
        name="api-campaign-release",
    ),
    path(
        "campaigns/<uuid:campaign_id>/skips",
        translated(labelling.Skips.as_view()),
        name="api-campaign-skips",
    ),
    path(
        "campaigns/<uuid:campaign_id>/skips/<uuid:skip_id>/return",
        translated(labelling.SkipReturn.as_view()),
        name="api-campaign-skip-return",
    ),
    path(
        "campaigns/<uuid:campaign_id>/questions",
        translated(questions.OwnQuestions.as_view()),
        name="api-campaign-questions",
    ),
    path(
        "campaigns/<uuid:campaign_id>/questions/all",
        questions.Questions.as_view(),
        name="api-campaign-questions-all",
    ),
    path(
        "campaigns/<uuid:campaign_id>/questions/<uuid:question_id>",
        questions.QuestionThread.as_view(),
        name="api-campaign-question",
    ),
    path(
        "campaigns/<uuid:campaign_id>/questions/<uuid:question_id>/messages",
        translated(questions.OwnQuestionMessages.as_view()),
        name="api-campaign-question-messages",
    ),
    path(
        "campaigns/<uuid:campaign_id>/questions/<uuid:question_id>/answer",
        questions.QuestionAnswer.as_view(),
        name="api-campaign-question-answer",
    ),
    path(
        "campaigns/<uuid:campaign_id>/questions/<uuid:question_id>/close",
        questions.QuestionClose.as_view(),
        name="api-campaign-question-close",
    ),
    path(
        "campaigns/<uuid:campaign_id>/questions/<uuid:question_id>/reopen",
        questions.QuestionReopen.as_view(),
        name="api-campaign-question-reopen",
    ),
    path(
        "campaigns/<uuid:campaign_id>/news",
        translated(questions.NewsOfLeads.as_view()),
        name="api-campaign-news",
    ),
    path(
        "campaigns/<uuid:campaign_id>/announcements",
        questions.Announcements.as_view(),
        name="api-campaign-announcements",
    ),
    path(
        "campaigns/<uuid:campaign_id>/announcements/<uuid:announcement_id>/withdraw",
        questions.AnnouncementWithdraw.as_view(),
        name="api-campaign-announcement-withdraw",
    ),
]
