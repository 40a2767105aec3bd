"""People's work: guidelines, campaigns, pools, seats, and the labels that come of them."""

from annotation.models.assignment_rules import AssignmentRule
from annotation.models.campaigns import (
    Campaign,
    CampaignAnnotator,
    Guideline,
    GuidelineRevision,
)
from annotation.models.changed_documents import DocumentCheck
from annotation.models.decisions import OneMoreLabel, Reopening, WithdrawnWish
from annotation.models.gold import (
    CheckAction,
    CheckPlan,
    CheckRule,
    Feedback,
    GoldCheck,
    GoldItem,
    StandIn,
)
from annotation.models.labels import (
    OVERLAP_PURPOSES,
    Adjudication,
    Assignment,
    Label,
    LabelTiming,
)
from annotation.models.machine_judges import (
    JudgeAttempt,
    JudgeBatch,
    JudgeCampaign,
    JudgeRevision,
    MachineCheck,
    MachineJudge,
    MachineLabel,
)
from annotation.models.pools import Pair, Pool, PoolEntry, SnapshotPool
from annotation.models.preferences import LabellingPreferences
from annotation.models.quality import AsidePreview, QualityReport, RulePreview
from annotation.models.questions import (
    Announcement,
    AnnouncementRead,
    Message,
    Question,
    WithdrawnAnnouncement,
)
from annotation.models.retention import LabelTimingDay, Retention
from annotation.models.reviews import Review, Reviewer
from annotation.models.skips import QuerySkip
from annotation.models.training import TrainingAnswer, TrainingAttempt

__all__ = [
    "OVERLAP_PURPOSES",
    "Adjudication",
    "Announcement",
    "AnnouncementRead",
    "AsidePreview",
    "Assignment",
    "AssignmentRule",
    "Campaign",
    "CampaignAnnotator",
    "CheckAction",
    "CheckPlan",
    "CheckRule",
    "DocumentCheck",
    "Feedback",
    "GoldCheck",
    "GoldItem",
    "Guideline",
    "GuidelineRevision",
    "JudgeAttempt",
    "JudgeBatch",
    "JudgeCampaign",
    "JudgeRevision",
    "Label",
    "LabelTiming",
    "LabelTimingDay",
    "LabellingPreferences",
    "MachineCheck",
    "MachineJudge",
    "MachineLabel",
    "Message",
    "OneMoreLabel",
    "Pair",
    "Pool",
    "PoolEntry",
    "QualityReport",
    "QuerySkip",
    "Question",
    "Reopening",
    "Retention",
    "Review",
    "Reviewer",
    "RulePreview",
    "SnapshotPool",
    "StandIn",
    "TrainingAnswer",
    "TrainingAttempt",
    "WithdrawnAnnouncement",
    "WithdrawnWish",
]
