"""Who gets what of campaigns, guidelines, pools and pairs."""

from typing import Any
from uuid import UUID

from annotation.assignment.services import add_rule
from annotation.campaigns.services import close_campaign
from annotation.consolidation.services import consolidate
from annotation.gold.services import mark_gold
from annotation.labelling.skipping import skip_query
from annotation.models import Campaign, CheckAction, GoldCheck, GoldItem, Guideline, Pair
from annotation.overlap_requests.services import add_overlap
from annotation.quality.services import refresh_quality
from annotation.reviews.services import plan_reviews
from tests.builders import NOW, World, commit, make_access
from tests.builders_annotation import (
    context_of,
    label,
    lease,
    make_campaign,
    make_draft,
    make_guideline,
)
from tests.evaluation.builders import make_run
from tests.permissions.table import Row, everybody, leads, managers, readers


def books(world: World) -> dict[str, Any]:
    return {"slug": world.collection.slug}


def guideline(world: World) -> dict[str, Any]:
    made = Guideline.objects.first() or make_guideline(world=world)
    return books(world) | {"guideline_id": made.pk}


def revision(world: World) -> dict[str, Any]:
    return guideline(world) | {"number": 1}


def of(world: World, campaign: Campaign) -> dict[str, Any]:
    return books(world) | {"campaign_id": campaign.public_id}


def open_one(world: World) -> dict[str, Any]:
    return of(world, make_campaign(world=world))


def reported(world: World) -> dict[str, Any]:
    """Ben in the report of a campaign."""
    path = pair(world)
    campaign = Pair.objects.get(pk=path.pop("pair_id")).campaign
    refresh_quality(campaign_id=campaign.pk, clock=lambda: NOW)
    return of(world, campaign) | {"username": "ben"}


def draft(world: World) -> dict[str, Any]:
    return of(world, make_draft(world=world))


def with_run(world: World) -> dict[str, Any]:
    make_run(collection=world.collection, rankings={"q1": ["d1", "d2"]})
    return of(world, make_draft(world=world, pairs=[]))


def closed_one(world: World) -> dict[str, Any]:
    access = make_access(collection=world.collection)
    campaign = make_campaign(world=world)
    return of(world, close_campaign(access=access, campaign=campaign, at=NOW))


def to_approve(world: World) -> dict[str, Any]:
    return of(world, make_campaign(world=world, commit="approval"))


def ben_in_it(world: World) -> dict[str, Any]:
    return open_one(world) | {"username": "ben"}


def pair(world: World) -> dict[str, Any]:
    found = make_campaign(world=world).pairs.select_related("campaign")[0]
    label(pair=found, username="ben", grade=3)
    return books(world) | {"pair_id": found.pk}


def judged(world: World) -> dict[str, Any]:
    grades = {(world.queries[0], world.documents[0]): 3}
    made = commit(judgment_list=world.judgments, grades=grades)
    return books(world) | {"list_slug": world.judgments.slug, "number": made.number}


def main_list(world: World) -> dict[str, Any]:
    return books(world) | {"list_slug": world.judgments.slug}


def pair_of_list(world: World) -> dict[str, Any]:
    make_campaign(world=world)
    return books(world) | {"list_slug": world.judgments.slug}


def skipped_by_ben(world: World) -> dict[str, Any]:
    campaign = make_campaign(world=world)
    seat = lease(campaign=campaign, username="ben")[0]
    context = context_of(campaign, "ben")
    skipped = skip_query(context=context, assignment=seat.public_id, reason="unclear", at=NOW)
    return of(world, campaign) | {"skip_id": skipped.skip.public_id}


GRADES = {f"definition_{code}": f"What {code} means." for code in range(5)}
PLAN = {"name": "New", "overlap": 1, "depth": 10, "rule": "majority", "commit": "live"}
POOL = {"depth": 2, "strategy": "depth"}


def planned(world: World) -> dict[str, Any]:
    make_guideline(world=world)
    return books(world)


def gold_item(world: World) -> dict[str, Any]:
    found = make_campaign(world=world).pairs.select_related("campaign__list")[0]
    access = make_access(collection=world.collection)
    made = mark_gold(access=access, pair=found, low=3, high=4, reason="It is.", at=NOW)
    return books(world) | {"item_id": made.pk}


def check_action(world: World) -> dict[str, Any]:
    item = GoldItem.objects.get(pk=gold_item(world)["item_id"])
    said = label(pair=world_pair(world), username="ben", grade=0)
    check = GoldCheck.objects.create(label=said, item=item, error=-3, checked_at=NOW)
    made = CheckAction.objects.create(
        campaign=item.campaign,
        annotator=world.ben,
        action="pause",
        right=0,
        checks=8,
        below_percent=65,
        newest=check,
        taken_at=NOW,
    )
    return books(world) | {"action_id": made.pk}


def world_pair(world: World) -> Pair:
    return Pair.objects.select_related("campaign").exclude(gold__isnull=False)[0]


def disputed(world: World) -> dict[str, Any]:
    found = make_campaign(world=world).pairs.select_related("campaign")[0]
    for username, grade in (("ben", 1), ("cem", 3)):
        label(pair=found, username=username, grade=grade)
    consolidate(list_id=found.list_id, at=NOW)
    return of(world, found.campaign) | {"pair_id": found.pk}


ASIDE = {"person": "ben", "act": "set_aside"}
ASIDE_BODY = {"people": ["ben"], "action": "set_aside"}


LABEL_ID = "5f0c3a52-3f0b-4f2e-9f0e-0d8f5b0c1a11"
REVIEWS = {"percent": 10, "reviewers": ["dora"]}
ACCEPTED = {"label": LABEL_ID, "verdict": "accepted"}


def reviewed_by_dora(world: World) -> dict[str, Any]:
    """A label of Ben's that Dora is to review."""
    campaign, access = make_campaign(world=world), make_access(collection=world.collection)
    found = campaign.pairs.select_related("campaign")[0]
    label(pair=found, username="ben", grade=3, id=UUID(LABEL_ID))
    plan_reviews(access=access, campaign=campaign, percent=100, reviewers=["dora"], at=NOW)
    return {"campaign_id": campaign.public_id}


def no_picture(world: World) -> dict[str, Any]:
    return reviewed_by_dora(world) | {"name": UUID(LABEL_ID)}


ASSIGNED: dict[str, Any] = {"scope": "all", "people": ["ben"]}


def assigned(world: World) -> dict[str, Any]:
    return books(world) | assigned_alone(world)


def assigned_alone(world: World) -> dict[str, Any]:
    campaign, access = make_campaign(world=world), make_access(collection=world.collection)
    made = add_rule(access=access, campaign=campaign, at=NOW, **ASSIGNED)
    return {"campaign_id": campaign.public_id, "rule_id": made.pk}


def ben_aside(world: World) -> dict[str, Any]:
    return open_one(world) | {"key": str(world.ben.pk)}


def campaign_alone(world: World) -> dict[str, Any]:
    return {"campaign_id": open_one(world)["campaign_id"]}


def draft_alone(world: World) -> dict[str, Any]:
    return {"campaign_id": draft(world)["campaign_id"]}


def labelled_alone(world: World) -> dict[str, Any]:
    return {"campaign_id": once_labelled(world)["campaign_id"]}


def check_action_alone(world: World) -> dict[str, Any]:
    made = CheckAction.objects.get(pk=check_action(world)["action_id"])
    return {"campaign_id": made.campaign.public_id, "action_id": made.pk}


def api_leads(name: str, method: str = "get", **more: Any) -> Row:
    """Only leads; a program that is not signed in is told so."""
    content_type = "" if method == "get" else "application/json"
    return Row(name=name, method=method, content_type=content_type, anonymous=401, lead=200, **more)


NEAR = {"takes": "worse", "near_reason": "So."}
RULES = {
    f"{action}_{part}": value
    for action in ("tell", "warn", "pause", "requeue")
    for part, value in (("below", 60), ("after", 8))
}
GOLD = b"query_id,doc_id,grade\nq1,d1,3\n"
CHECKS = {"feedback_after": 0, "gold_percent": 5, "repeat_percent": 0, "when_used_up": "warn"}
TRAINING = {"training_pairs": 5, "training_percent": 60, "training_tries": 2}


def learner(world: World) -> dict[str, Any]:
    return open_one(world) | {"username": "ben"}


def main(world: World) -> dict[str, Any]:
    return books(world) | {"list_slug": world.judgments.slug}


def ruled(world: World) -> dict[str, Any]:
    return open_one(world) | {"rule": "mean"}


def once_labelled(world: World) -> dict[str, Any]:
    campaign = make_campaign(world=world, overlap=1)
    label(pair=campaign.pairs.select_related("campaign")[0], username="ben", grade=1)
    return of(world, campaign)


BATCH = UUID("c56a4180-65aa-42ec-a945-5fd21dec0538")


def overlap_asked(world: World) -> dict[str, Any]:
    path = once_labelled(world)
    add_overlap(
        access=make_access(collection=world.collection),
        campaign=Campaign.objects.get(public_id=path["campaign_id"]),
        segment=None,
        pairs=1,
        batch=BATCH,
        at=NOW,
    )
    return path | {"batch": BATCH}


SCHEDULE = {"due_on": "2026-12-01", "warn_percent": 80, "labels_total": 100, "stops": "on"}
ROWS = [
    managers("campaign-assignment", path=open_one),
    leads("campaign-assignment", 302, path=open_one, method="post", data=ASSIGNED),
    leads("campaign-assignment-remove", 302, path=assigned, method="post"),
    Row(name="api-campaign-assignment", path=campaign_alone, anonymous=401, lead=200, admin=200),
    Row(
        name="api-campaign-assignment",
        path=campaign_alone,
        method="post",
        data=ASSIGNED,
        content_type="application/json",
        anonymous=401,
        lead=201,
    ),
    api_leads("api-campaign-assignment-remove", path=assigned_alone, method="post"),
    managers("campaign-reviews", path=open_one),
    leads("campaign-reviews", 302, path=open_one, method="post", data=REVIEWS),
    Row(name="api-campaign-reviews", path=campaign_alone, anonymous=401, lead=200, admin=200),
    api_leads("api-campaign-reviews", path=campaign_alone, method="post", data=REVIEWS),
    Row(name="review", path=reviewed_by_dora, researcher=200),
    Row(name="review", path=reviewed_by_dora, method="post", data=ACCEPTED, researcher=302),
    Row(name="review-picture", path=no_picture),
    Row(name="api-campaign-review", path=reviewed_by_dora, anonymous=401, researcher=200),
    Row(
        name="api-campaign-review",
        path=reviewed_by_dora,
        method="post",
        data=ACCEPTED,
        content_type="application/json",
        anonymous=401,
        researcher=201,
    ),
    leads("campaign-budget", path=open_one),
    leads("campaign-budget", 302, path=open_one, method="post", data=SCHEDULE),
    api_leads("api-campaign-archive", path=draft_alone, method="post"),
    api_leads("api-campaign-restore", path=draft_alone, method="post"),
    leads("campaign-archive", 302, path=draft, method="post"),
    leads("campaign-restore", 302, path=draft, method="post"),
    leads("collection-budget", path=books),
    leads("collection-budget", 302, path=books, method="post", data={"warn_percent": 80}),
    everybody("work-overview"),
    managers("campaign-quality", path=open_one),
    managers("campaign-quality-summary", path=open_one),
    managers("campaign-quality-person", path=reported),
    leads("campaign-aside", path=open_one),
    leads("campaign-aside", 302, path=once_labelled, method="post", data=ASIDE),
    leads("campaign-aside-state", path=ben_aside),
    api_leads("api-campaign-aside", path=campaign_alone),
    api_leads("api-campaign-aside", path=labelled_alone, method="post", data=ASIDE_BODY),
    api_leads("api-campaign-aside-undo", path=check_action_alone, method="post"),
    leads("campaign-rule", path=open_one),
    leads("campaign-rule", 302, path=open_one, method="post", data={"rule": "mean"}),
    leads("campaign-rule-state", path=ruled),
    managers("campaign-quality-state", path=open_one),
    managers("campaign-quality-csv", path=open_one),
    managers("campaign-labels-csv", path=open_one),
    managers("campaign-labels-jsonl", path=open_one),
    managers("campaign-labels-parquet", path=open_one),
    readers("campaign-labels-csv", path=closed_one),
    readers("campaign-labels-jsonl", path=closed_one),
    readers("campaign-labels-parquet", path=closed_one),
    managers("campaign-quality-json", path=open_one),
    managers("list-quality", path=main_list),
    managers("changed-documents", path=main_list),
    leads("changed-relabel", 302, path=main_list, method="post"),
    leads("changed-choose", 302, path=main_list, method="post"),
    readers("api-changed-documents", path=main_list, anonymous=401),
    api_leads(
        "api-changed-documents",
        "put",
        path=main_list,
        data={"changed_documents": "unjudged"},
    ),
    managers("list-quality-csv", path=main_list),
    managers("list-quality-json", path=main_list),
    leads("campaign-overlap", path=once_labelled),
    leads(
        "campaign-overlap",
        302,
        path=once_labelled,
        method="post",
        data={"pairs": 1, "batch": BATCH},
    ),
    leads("campaign-overlap-withdraw", 302, path=overlap_asked, method="post"),
    managers("campaign-gold", path=open_one),
    leads("campaign-gold", 302, path=open_one, method="post", data=CHECKS),
    leads("campaign-gold-add", path=open_one),
    leads("campaign-gold-add", path=open_one, method="post"),
    managers("campaign-gold-csv", path=open_one),
    Row(name="api-campaign-gold", path=campaign_alone, anonymous=401, lead=200, admin=200),
    Row(
        name="api-campaign-gold",
        path=campaign_alone,
        method="post",
        data={"file": GOLD},
        anonymous=401,
        lead=201,
    ),
    managers("campaign-training", path=open_one),
    leads("campaign-training", 302, path=open_one, method="post", data=TRAINING),
    leads("campaign-training-pass", 302, path=learner, method="post"),
    leads("campaign-training-again", 302, path=learner, method="post"),
    leads("campaign-rules", 302, path=open_one, method="post", data=RULES),
    leads("check-action-undo", 302, path=check_action, method="post"),
    leads("campaign-gold-take", 302, path=open_one, method="post"),
    leads("gold-retire", 302, path=gold_item, method="post"),
    leads("pair-gold", 302, path=pair, method="post", data={"low": 2, "high": 3}),
    everybody("my-campaigns"),
    Row(name="campaigns", path=books, annotator=200, researcher=200, lead=200, admin=200),
    managers("guidelines", path=books),
    leads("guideline-create", path=books),
    leads("guideline-create", 302, path=books, method="post", data={"name": "How"} | GRADES),
    leads("guideline-preview", path=books, method="post", data={"text": "# Grades"}),
    managers("guideline", path=guideline),
    managers("guideline-revision", path=revision),
    leads("guideline-revise", path=guideline),
    leads("guideline-revise", 302, path=guideline, method="post", data={"base": 1} | GRADES),
    leads("labels-import", path=books),
    leads("labels-import", path=books, method="post", data={"campaign": "Past"}),
    leads("campaign-create", path=planned),
    leads("campaign-create", path=planned, method="post", data=PLAN),
    Row(name="campaign", path=open_one, annotator=200, lead=200, admin=200),
    Row(name="campaign", path=closed_one, annotator=200, researcher=200, lead=200, admin=200),
    managers("campaign", path=draft),
    leads("campaign-change", path=draft),
    leads("campaign-change", path=draft, method="post", data=PLAN),
    leads("campaign-open", 302, path=draft, method="post"),
    leads("campaign-close", 302, path=open_one, method="post"),
    leads("campaign-people-add", 302, path=draft, method="post", data={"people": "ada"}),
    leads("campaign-person-remove", 302, path=ben_in_it, method="post"),
    managers("campaign-live", path=open_one),
    managers("retention", path=books),
    managers("retention", 302, path=books, method="post", data={"timing_days": "30"}),
    leads("campaign-leases-release", path=ben_in_it),
    leads("campaign-leases-release", 302, path=ben_in_it, method="post"),
    leads("campaign-leases-release", 302, path=ben_in_it, method="post", data={"to": "cem"}),
    leads("campaign-skip-give-back", 302, path=skipped_by_ben, method="post"),
    leads("campaign-approve", path=to_approve),
    leads("campaign-approve", 302, path=to_approve, method="post"),
    leads("campaign-approve", 404, path=open_one),
    leads("campaign-pool", path=with_run),
    leads("campaign-pool", path=with_run, method="post", data=POOL),
    leads("campaign-pool-snapshots", 302, path=with_run, method="post"),
    leads("campaign-pool-preview", path=with_run, method="post", data=POOL),
    leads("campaign-top-up", 302, path=with_run),
    leads("campaign-top-up", 302, path=with_run, method="post"),
    managers("campaign-pairs", path=open_one),
    managers("pair", path=pair),
    leads("pair", 302, path=pair, method="post", data={"grade": 2, "reason": "So."}),
    managers("campaign-queue", path=open_one),
    leads("campaign-queue-near", 302, path=open_one, method="post", data=NEAR),
    leads("campaign-decide", path=disputed),
    leads("campaign-decide", 302, path=disputed, method="post", data={"grade": 2, "reason": "So."}),
    leads("campaign-one-more", 302, path=disputed, method="post", data={"why": "So."}),
    leads("pair-reopen", 302, path=pair, method="post", data={"why": "So."}),
    managers("version-people", path=judged),
    managers("pair-of-list", 302, path=pair_of_list, query="query=q1&document=d1"),
    leads("next-campaign", 302, path=main, method="post"),
]
