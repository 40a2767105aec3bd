"""An installation in which one person left words everywhere; and finding what is left of them.

`python -m tests.config.privacy.traces`, in a process of its own, as commands/installation.py.
"""

import os
import re
from collections.abc import Iterator
from typing import Any, Final

import django
from django.db import connection

from config.database.migrating import migrate_what_is_due

USERNAME, NAME = "quillfeather", "Ben Quillfeather"
EMAIL, WORDS = "ben@quillfeather.example", "Zanzibar"
TRACES: Final = re.compile(rb"quillfeather|zanzibar", re.IGNORECASE)


def leave_traces() -> None:
    """Ben labels, asks, skips, is paused, administers nothing, and is named by others."""
    from django.utils import timezone

    from annotation.labelling.services import submit_label
    from annotation.models import Campaign, CampaignAnnotator, Label, QuerySkip
    from annotation.questions.services import ask
    from judgments.accounts.second_factor import begin_set_up
    from judgments.accounts.services import end_sessions
    from judgments.accounts.tokens import create_token
    from judgments.audit.services import record
    from judgments.members.services import set_tags
    from judgments.messages.services import notify, queue_message
    from judgments.models import Invitation, Membership, Role, Session, User
    from tests.builders import make_access
    from tests.builders_annotation import context_of, said

    at = timezone.now()
    ben = User.objects.get(username="ben")
    ben.username, ben.name, ben.email = USERNAME, NAME, EMAIL
    ben.set_password("sturdy-otter-42-lamp")
    ben.save()
    campaign = Campaign.objects.select_related("list__collection").get()
    collection = campaign.list.collection
    ada = make_access(collection=collection)
    create_token(by=ben, name=WORDS, scope="read", days=7, at=at)
    begin_set_up(user=ben, at=at)
    Session.objects.create(session_key="k", user=ben, expire_date=at, agent=WORDS, seen_at=at)
    set_tags(access=ada, username=USERNAME, tags=[WORDS], at=at)
    end_sessions(user=ben, by=ada.user, at=at)
    own = Label.objects.filter(annotator=ben, superseded_by=None, assignment__state="done")
    first = own.select_related("assignment", "pair__query").order_by("pk")[0]
    seat, query = first.assignment, first.pair.query
    assert seat is not None
    change = said(
        seat=seat, grade=first.grade, supersedes=first.pk, note=WORDS, reason=WORDS, at=at
    )
    submit_label(context=context_of(campaign, USERNAME), submission=change, at=at)
    ask(context=context_of(campaign, USERNAME), assignment=seat.public_id, text=WORDS, at=at)
    QuerySkip.objects.create(
        campaign=campaign, query=query, annotator=ben, reason="other", note=WORDS,
        skipped_at=at,
    )  # fmt: skip
    CampaignAnnotator.objects.filter(user=ben).update(paused=f"{NAME}, {WORDS}")
    Invitation.objects.create(
        collection=collection, role=Role.ANNOTATOR, note=NAME, token_hash="h",
        created_at=at, created_by=ada.user, expires_at=at, accepted_at=at, accepted_by=ben,
    )  # fmt: skip
    _let_others_write(ada, campaign, query, at)
    member: dict[str, Any] = {
        "subject": USERNAME,
        "before": {"name": NAME},
        "after": {"people": [USERNAME]},
    }
    record(collection=collection, actor=ada.user, at=at, action="check.acted", **member)
    about: dict[str, Any] = {
        "subject": f"First of {USERNAME}",
        "after": {"reason": f"wrote to {EMAIL}"},
    }
    record(collection=collection, actor=ada.user, at=at, action="check.acted", **about)
    words: dict[str, Any] = {"subject": "First", "after": {"reason": WORDS}}
    record(collection=collection, actor=ben, at=at, action="campaign.changed", **words)
    shared: dict[str, Any] = {"page": ("home",), "collection": collection, "at": at}
    for people in ([ben], [ada.user]):
        notify(kind="joined", key="n", people=people, payload={"person_named": NAME}, **shared)
    queue_message(channel="email", kind="address", key="a", address=EMAIL, payload={}, at=at)
    assert Membership.objects.filter(user=ben).exists()


def _let_others_write(access: Any, campaign: Any, query: Any, at: Any) -> None:
    """What others say of Ben in rows that are not about him, and a lead's words to him."""
    from annotation.models import CampaignAnnotator, CheckAction, Label, QuerySkip
    from judgments.models import Invitation, Role, User

    other = (
        Label.objects.exclude(annotator__username=USERNAME).select_related("annotator")[0].annotator
    )
    Invitation.objects.create(
        collection=access.collection, role=Role.ANNOTATOR, note=f"for {NAME}", token_hash="i",
        created_at=at, created_by=access.user, expires_at=at,
    )  # fmt: skip
    QuerySkip.objects.create(
        campaign=campaign, query=query,
        annotator=other, reason="other", note=f"ask {EMAIL}", skipped_at=at,
    )  # fmt: skip
    CampaignAnnotator.objects.filter(user=other).update(paused=f"waits for {NAME}")
    for annotator, message in (
        (User.objects.get(username=USERNAME), WORDS),
        (other, f"Compare with {NAME}."),
    ):
        CheckAction.objects.create(
            campaign=campaign, annotator=annotator, action="warn", right=1, checks=2,
            below_percent=0, message=message, taken_at=at, taken_by=access.user,
        )  # fmt: skip


def list_traces() -> Iterator[str]:
    """Every table in which a column still says something of Ben."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608
            if any(TRACES.search(repr(row).encode()) for row in cursor.fetchall()):
                yield table


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from tests.config.commands.installation import build

    migrate_what_is_due()
    build()
    leave_traces()


if __name__ == "__main__":
    main()
