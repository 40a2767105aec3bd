"""Who gets what of campaigns, guidelines, pools and pairs."""

from typing import Any

from annotation.models import Campaign, Guideline
from annotation.services.campaigns import close_campaign
from tests.builders import NOW, World, commit, make_access
from tests.builders_annotation import label, make_campaign, make_draft, make_guideline
from tests.evaluation.builders import make_run
from tests.permissions.table import Row, everybody, leads, managers


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


def pair_of_list(world: World) -> dict[str, Any]:
    make_campaign(world=world)
    return books(world) | {"list_slug": world.judgments.slug}


GRADES = {f"definition_{code}": f"What {code} means." for code in range(5)}
PLAN = {"name": "New", "overlap": 1, "depth": 10, "rule": "majority", "commit": "live"}
POOL = {"depth": 2, "strategy": "depth"}


def planned(world: World) -> dict[str, Any]:
    make_guideline(world=world)
    return books(world)


ROWS = [
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
    leads("campaign-approve", path=to_approve),
    leads("campaign-approve", 302, path=to_approve, method="post"),
    leads("campaign-approve", 404, path=open_one),
    leads("campaign-pool", path=with_run),
    leads("campaign-pool", path=with_run, method="post", data=POOL),
    leads("campaign-pool-preview", path=with_run, method="post", data=POOL),
    leads("campaign-top-up", 302, path=with_run),
    leads("campaign-top-up", 302, path=with_run, method="post"),
    managers("campaign-pairs", path=open_one),
    managers("pair", path=pair),
    leads("pair", 302, path=pair, method="post", data={"grade": 2}),
    managers("version-people", path=judged),
    managers("pair-of-list", 302, path=pair_of_list, query="query=q1&document=d1"),
]
