"""Who gets what where labels are made. Only who has a place in the campaign finds it."""

from typing import Any

from annotation.campaigns.services import close_campaign
from annotation.labelling.skipping import skip_query
from tests.builders import NOW, World, make_access
from tests.builders_annotation import context_of, lease, make_campaign
from tests.permissions.table import Row, everybody, readers

JSON = "application/json"


def campaign(world: World) -> dict[str, Any]:
    return {"campaign_id": make_campaign(world=world).public_id}


def closed_campaign(world: World) -> dict[str, Any]:
    access, made = make_access(collection=world.collection), make_campaign(world=world)
    close_campaign(access=access, campaign=made, at=NOW)
    return {"campaign_id": made.public_id}


def api(name: str, method: str = "post", **data: Any) -> Row:
    """Only annotators; a program that is not signed in is told so."""
    content_type = JSON if method == "post" else ""
    return Row(
        name=name,
        path=campaign,
        method=method,
        data=data,
        content_type=content_type,
        annotator=200,
        anonymous=401,
    )


def main_list(world: World) -> dict[str, Any]:
    return {"slug": world.collection.slug, "list_slug": world.judgments.slug}


def skipped(world: World) -> dict[str, Any]:
    """Ben skips a query of an open campaign."""
    made = make_campaign(world=world)
    seat = lease(campaign=made, username="ben")[0]
    skip = skip_query(
        context=context_of(made, "ben"), assignment=seat.public_id, reason="unclear", at=NOW
    ).skip
    return {"campaign_id": made.public_id, "skip_id": skip.public_id}


ROWS = [
    Row(name="label", path=campaign, annotator=200),
    Row(name="label-feedback", path=campaign, annotator=200),
    Row(name="label-own-work", path=campaign, annotator=200),
    Row(name="label-own-labels", path=campaign, annotator=200),
    Row(name="label-guideline", path=campaign, query="since=1", annotator=200),
    everybody("labelling-preferences", 422, method="post", data={"text_size": "100", "keys": "{}"}),
    everybody("label-script", path=lambda world: {"digest": "0123456789abcdef"}, anonymous=200),
    everybody("label-first", path=lambda world: {"digest": "0123456789abcdef"}, anonymous=200),
    everybody("label-style", path=lambda world: {"digest": "0123456789abcdef"}, anonymous=200),
    api("api-campaign-next"),
    api("api-campaign-next", "get"),
    api("api-campaign-labels", "get"),
    Row(name="api-campaign-quality", path=campaign, anonymous=401, lead=200, admin=200),
    Row(name="api-campaign-labels-file", path=campaign, anonymous=401, lead=200, admin=200),
    readers("api-campaign-labels-file", path=closed_campaign, anonymous=401),
    Row(name="api-list-quality", path=main_list, anonymous=401, lead=200, admin=200),
    api("api-campaign-release"),
    Row(name="skip-return", path=skipped, method="post", annotator=302),
    api("api-campaign-skips", "get"),
    Row(
        name="api-campaign-skip-return",
        path=skipped,
        method="post",
        content_type=JSON,
        annotator=204,
        anonymous=401,
    ),
]
