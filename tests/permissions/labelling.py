"""Who gets what where labels are made. Only who has a place in the campaign finds it."""

from typing import Any

from tests.builders import World
from tests.builders_annotation import make_campaign
from tests.permissions.table import Row

JSON = "application/json"


def campaign(world: World) -> dict[str, Any]:
    return {"campaign_id": make_campaign(world=world).public_id}


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


ROWS = [
    Row(name="label", path=campaign, annotator=200),
    Row(name="label", path=campaign, method="post", annotator=302),
    api("api-campaign-next"),
    api("api-campaign-next", "get"),
    api("api-campaign-labels", "get"),
    api("api-campaign-release"),
]
