"""Where a storm takes place: built in the database that the environment names, told as JSON.

`python -m tests.faults.scene ANNOTATORS QUERIES DEPTH`, in a process of its own, because the
tests' process has another database.
"""

import json
import os
import random
import sys
from typing import Any

import django

from config.database.migrating import migrate_what_is_due

OVERLAP = 2
RANKERS = 5
SEED = 271828


def build(*, annotators: int, queries: int, depth: int) -> dict[str, Any]:
    """An open campaign of queries × depth pairs, some judgments from before, several runs."""
    from django.utils import timezone

    from judgments.accounts.tokens import create_token
    from judgments.models import ApiToken
    from tests.builders import commit, make_member, make_world
    from tests.builders_annotation import make_campaign

    world = make_world(queries=queries, documents=4 * depth)
    usual = {"ben": world.ben, "cem": world.cem}
    others = [f"annotator{number}" for number in range(3, annotators + 1)]
    people = usual | {
        name: make_member(collection=world.collection, username=name, role="annotator")
        for name in others
    }
    dice = random.Random(SEED)
    pooled = {query: dice.sample(world.documents, depth) for query in world.queries}
    outside = {
        (query, document): dice.choice((0, 0, 1, 2, 3, 4))
        for query, own in pooled.items()
        for document in world.documents
        if document not in own
    }
    commit(judgment_list=world.judgments, grades=outside, at=timezone.now())
    _import_runs(world, dice)
    campaign = make_campaign(
        world=world,
        people=list(people),
        pairs=[(query, document) for query, own in pooled.items() for document in own],
        overlap=OVERLAP,
        rule="mean",
    )
    now = timezone.now()
    tokens = {
        name: create_token(by=user, name="storm", scope=ApiToken.Scope.WRITE, days=7, at=now)[1]
        for name, user in people.items()
    }
    return {"campaign": str(campaign.public_id), "tokens": tokens, "pairs": queries * depth}


def _import_runs(world: Any, dice: random.Random) -> None:
    from tests.evaluation.builders import make_run

    docids = [document.docid for document in world.documents]
    for number in range(RANKERS):
        rankings = {
            query.qid: dice.sample(docids, len(docids) // 2)
            for query in world.queries
            # a run may leave queries out, but not all of them
            if query == world.queries[0] or dice.random() < 0.9
        }
        make_run(collection=world.collection, rankings=rankings, ranker=f"ranker{number}")


def main() -> None:
    annotators, queries, depth = (int(word) for word in sys.argv[1:])
    django.setup()
    migrate_what_is_due()
    scene = build(annotators=annotators, queries=queries, depth=depth)
    _sabotage()
    sys.stdout.write(json.dumps(scene))


def _sabotage() -> None:
    if os.environ.get("TOUCHSTONE_SABOTAGE"):
        from tests.faults.sabotage import prepare_database

        prepare_database(os.environ["TOUCHSTONE_SABOTAGE"])


if __name__ == "__main__":
    main()
