"""People's work: guidelines, campaigns, pools, seats, and the labels that come of them."""

from annotation.models.campaigns import (
    Campaign,
    CampaignAnnotator,
    Guideline,
    GuidelineRevision,
)
from annotation.models.labels import Adjudication, Assignment, Label
from annotation.models.pools import Pair, Pool, PoolEntry

__all__ = [
    "Adjudication",
    "Assignment",
    "Campaign",
    "CampaignAnnotator",
    "Guideline",
    "GuidelineRevision",
    "Label",
    "Pair",
    "Pool",
    "PoolEntry",
]
