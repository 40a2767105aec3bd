"""Who gets what where labels are made. Only who has a place in the campaign finds it."""

from typing import Any

from annotation.campaigns.services import close_campaign
from annotation.labelling.skipping import skip_query
from annotation.models import Assignment, Campaign
from annotation.questions.services import announce, ask, close
from judgments.models import Picture
from tests.builders import NOW, World, make_access
from tests.builders_annotation import context_of, lease, make_campaign
from tests.judgments.pictures.drawing import choose, data_uri, drawn, load
from tests.permissions.table import Row, everybody, managers, readers

JSON = "application/json"
SAID = {"text": "So."}
SEAT = "c56a4180-65aa-42ec-a945-5fd21dec0538"


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


def held_by_ben(world: World) -> dict[str, Any]:
    """Ben holds the seat SEAT of an open campaign."""
    made = make_campaign(world=world)
    seat = lease(campaign=made, username="ben")[0]
    Assignment.objects.filter(pk=seat.pk).update(public_id=SEAT)
    return {"campaign_id": made.public_id}


def asked(world: World) -> dict[str, Any]:
    """Ben asks about a pair of an open campaign."""
    made = make_campaign(world=world)
    seat = lease(campaign=made, username="ben")[0]
    question = ask(context=context_of(made, "ben"), assignment=seat.public_id, text="Why?", at=NOW)
    return {"campaign_id": made.public_id, "question_id": question.public_id}


def asked_of_books(world: World) -> dict[str, Any]:
    return {"slug": world.collection.slug} | asked(world)


def closed_of_books(world: World) -> dict[str, Any]:
    found = asked_of_books(world)
    close(access=make_access(collection=world.collection), **_named(found), at=NOW)
    return found


def closed(world: World) -> dict[str, Any]:
    found = closed_of_books(world)
    return {name: found[name] for name in ("campaign_id", "question_id")}


def of_books(world: World) -> dict[str, Any]:
    return {"slug": world.collection.slug} | campaign(world)


def _named(found: dict[str, Any]) -> dict[str, Any]:
    made = Campaign.objects.get(public_id=found["campaign_id"])
    return {"campaign": made, "question_id": found["question_id"]}


def announced(world: World) -> dict[str, Any]:
    """An announcement of a campaign that Ada leads."""
    found = campaign(world)
    made = Campaign.objects.get(public_id=found["campaign_id"])
    access = make_access(collection=world.collection)
    told = announce(access=access, campaign=made, text="Read it.", at=NOW)
    return {**found, "announcement_id": told.pk}


def announced_of_books(world: World) -> dict[str, Any]:
    return {"slug": "books", **announced(world)}


def watchers(name: str, **more: Any) -> Row:
    """Leads and admins; a program that is not signed in is told so."""
    return Row(name=name, anonymous=401, lead=200, admin=200, **more)


def leads(name: str, status: int = 200, **data: Any) -> Row:
    """Only leads write; a program that is not signed in is told so."""
    places = {
        "api-campaign-announcements": campaign,
        "api-campaign-announcement-withdraw": announced,
        "api-campaign-question-reopen": closed,
    }
    return Row(
        name=name,
        path=places.get(name, asked),
        method="post",
        data=data,
        content_type=JSON,
        anonymous=401,
        lead=status,
    )


def held_picture(world: World) -> dict[str, Any]:
    """A picture of a document that Ben has before him."""
    load(world.collection, {"d1": {"photo": data_uri(drawn())}})
    choose(world.collection, photo="small")
    made = make_campaign(world=world, pairs=[(world.queries[0], world.documents[0])])
    lease(campaign=made, username="ben")
    return {"campaign_id": made.public_id, "name": Picture.objects.get().public_id}


ROWS = [
    Row(name="label", path=campaign, annotator=200),
    Row(name="label-picture", path=held_picture, annotator=200),
    Row(name="label-feedback", path=campaign, annotator=200),
    Row(name="label-own-work", path=campaign, annotator=200),
    Row(name="label-own-labels", path=campaign, annotator=200),
    Row(name="label-guideline", path=campaign, query="since=1", annotator=200),
    everybody("labelling-preferences", 422, method="post", data={"text_size": "100", "keys": "{}"}),
    everybody("label-script", path=lambda world: {"digest": "0123456789abcdef"}, anonymous=200),
    everybody("label-first", path=lambda world: {"digest": "0123456789abcdef"}, anonymous=200),
    everybody("label-style", path=lambda world: {"digest": "0123456789abcdef"}, anonymous=200),
    Row(name="label-questions", path=campaign, annotator=200),
    Row(name="label-ask", path=held_by_ben, query=f"assignment={SEAT}", annotator=200),
    Row(name="label-ask", path=campaign, query="assignment=nope"),
    Row(
        name="label-ask",
        path=held_by_ben,
        query=f"assignment={SEAT}",
        method="post",
        data=SAID,
        annotator=302,
    ),
    Row(name="label-question", path=asked, annotator=200),
    Row(name="label-question", path=asked, method="post", data={"text": "So?"}, annotator=302),
    Row(name="label-question", path=asked, method="post", annotator=422),
    Row(name="label-news", path=campaign, annotator=302),
    Row(name="label-news", path=campaign, method="post", annotator=302),
    managers("campaign-questions", path=of_books),
    managers("campaign-question", path=asked_of_books),
    Row(name="campaign-question", path=asked_of_books, method="post", data=SAID, lead=302),
    Row(name="campaign-question-close", path=asked_of_books, method="post", lead=302),
    Row(name="campaign-question-reopen", path=closed_of_books, method="post", lead=302),
    managers("campaign-announcements", path=of_books),
    Row(name="campaign-announcements", path=of_books, method="post", data=SAID, lead=302),
    Row(name="campaign-announcement-withdraw", path=announced_of_books, method="post", lead=302),
    api("api-campaign-questions", "get"),
    Row(
        name="api-campaign-questions",
        path=held_by_ben,
        method="post",
        data={"assignment": SEAT, "text": "Why?"},
        content_type=JSON,
        annotator=201,
        anonymous=401,
    ),
    api("api-campaign-news", "get"),
    api("api-campaign-news"),
    Row(
        name="api-campaign-question-messages",
        path=asked,
        method="post",
        data=SAID,
        content_type=JSON,
        annotator=201,
        anonymous=401,
    ),
    watchers("api-campaign-questions-all", path=campaign),
    watchers("api-campaign-question", path=asked),
    watchers("api-campaign-announcements", path=campaign),
    leads("api-campaign-announcements", 201, text="So."),
    leads("api-campaign-announcement-withdraw"),
    leads("api-campaign-question-answer", 201, text="So."),
    leads("api-campaign-question-close"),
    leads("api-campaign-question-reopen"),
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
