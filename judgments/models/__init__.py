"""The hub: collections, their people, queries and documents, and versioned judgment lists."""

from judgments.models.budgets import Budget
from judgments.models.clicks import ClickBlock, ClickGrading, ClickLog, InterleavingExperiment
from judgments.models.collections import Collection, Document, Query
from judgments.models.jobs import Job, Round, WorkerBeat
from judgments.models.lists import (
    Judgment,
    JudgmentList,
    JudgmentVersion,
    QueryMetadataHistory,
    Release,
)
from judgments.models.members import (
    ApiToken,
    AuditEntry,
    AuditSeal,
    Invitation,
    Membership,
    Role,
    User,
)
from judgments.models.messages import MessageChoice, Notice, OutboxMessage
from judgments.models.pictures import DocumentPicture, Picture, PictureContent
from judgments.models.second_factors import RecoveryCode, SecondFactor, SecurityKey
from judgments.models.secrets import Secret
from judgments.models.sessions import Session
from judgments.models.sets import SavedSet, SavedSetQuery, SetLook
from judgments.models.side_texts import SideText
from judgments.models.traffic import (
    QueryOrigin,
    SampledQuery,
    SamplePlan,
    TrafficBlock,
    TrafficFrame,
    ZeroResultQuery,
)
from judgments.models.webhooks import WebhookAttempt, WebhookDelivery, WebhookEndpoint

__all__ = [
    "ApiToken",
    "AuditEntry",
    "AuditSeal",
    "Budget",
    "ClickBlock",
    "ClickGrading",
    "ClickLog",
    "Collection",
    "Document",
    "DocumentPicture",
    "InterleavingExperiment",
    "Invitation",
    "Job",
    "Judgment",
    "JudgmentList",
    "JudgmentVersion",
    "Membership",
    "MessageChoice",
    "Notice",
    "OutboxMessage",
    "Picture",
    "PictureContent",
    "Query",
    "QueryMetadataHistory",
    "QueryOrigin",
    "RecoveryCode",
    "Release",
    "Role",
    "Round",
    "SamplePlan",
    "SampledQuery",
    "SavedSet",
    "SavedSetQuery",
    "SecondFactor",
    "Secret",
    "SecurityKey",
    "Session",
    "SetLook",
    "SideText",
    "TrafficBlock",
    "TrafficFrame",
    "User",
    "WebhookAttempt",
    "WebhookDelivery",
    "WebhookEndpoint",
    "WorkerBeat",
    "ZeroResultQuery",
]
