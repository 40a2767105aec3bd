"""What a journey begins with, built in the database that the environment names; told as JSON.

`python -m tests.browser.scene PAIRS`, in a process of its own: the tests' process has another
database.
"""

import json
import secrets
import sys
from typing import Any

import django

from config.database.migrating import migrate_what_is_due

QUERIES = 4
WINDOWS = 4  # of one person, that a test opens


def hash_in_milliseconds() -> None:
    """The work that makes guessing passwords slow is Django's to test."""
    from django.contrib.auth.hashers import PBKDF2PasswordHasher

    PBKDF2PasswordHasher.iterations = 1_000


def build(*, pairs: int) -> dict[str, Any]:
    """The cast with passwords and sessions; a campaign in which every label makes a judgment."""
    from django.test import Client
    from django.utils import timezone

    from tests.builders import commit, make_set, make_user, make_world
    from tests.builders_annotation import make_campaign
    from tests.evaluation.builders import make_run

    per_query = pairs // QUERIES
    world = make_world(queries=QUERIES, documents=per_query + 2)
    passwords = {}
    for user in (world.ada, world.ben, world.cem, world.dora):
        passwords[user.username] = secrets.token_urlsafe(16)
        user.set_password(passwords[user.username])
        user.save(update_fields=["password"])
    before = {(query, document): 1 for query in world.queries for document in world.documents[:2]}
    commit(judgment_list=world.judgments, grades=before, at=timezone.now())
    docids = [document.docid for document in world.documents]
    for number, ranked in enumerate((docids, docids[::-1], docids[::2] + docids[1::2])):
        make_run(
            collection=world.collection,
            rankings={query.qid: ranked for query in world.queries},
            ranker=f"ranker{number}",
        )
    make_set(world=world, qids=["q1", "q2"], is_held_out=True)
    campaign = make_campaign(
        world=world,
        people=["ben", "cem"],
        pairs=[(q, document) for q in world.queries for document in world.documents[2:]],
        overlap=1,
    )
    people = (
        world.ada,
        world.ben,
        world.cem,
        world.dora,
        make_user(username="root", is_superuser=True),
    )
    sessions: dict[str, list[str]] = {user.username: [] for user in people}
    for user in people:
        for _ in range(WINDOWS):
            client = Client()
            client.force_login(user, "django.contrib.auth.backends.ModelBackend")
            sessions[user.username].append(client.cookies["sessionid"].value)
    return {"campaign": str(campaign.public_id), "passwords": passwords, "sessions": sessions}


def main() -> None:
    django.setup()
    migrate_what_is_due()
    hash_in_milliseconds()
    sys.stdout.write(json.dumps(build(pairs=int(sys.argv[1]))))


if __name__ == "__main__":
    main()
