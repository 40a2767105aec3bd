"""Where a judgment came from, over REST: what the pair's page says."""

import pytest

from annotation.adjudication.services import adjudicate
from annotation.consolidation.services import consolidate
from tests.api.callers import MAIN, by_token, is_problem
from tests.builders import NOW, commit, make_access
from tests.builders_annotation import label, make_campaign

pytestmark = pytest.mark.django_db


def ask(query: str, document: str, user: str = "ada"):
    return by_token(user).get(f"{MAIN}pair?query={query}&document={document}")


def test_labels_decisions_and_the_lists_grades_stand_together(world):
    (q1, *_), (d1, *_) = world.queries, world.documents
    commit(judgment_list=world.judgments, grades={(q1, d1): 1}, by=world.ada, reason="from before")
    campaign = make_campaign(world=world, people=["ben", "cem"], pairs=[(q1, d1)], overlap=2)
    pair = campaign.pairs.select_related("campaign__list__collection", "list").get()
    label(pair=pair, username="ben", grade=0)
    label(pair=pair, username="cem", grade=4)
    access = make_access(collection=world.collection)
    adjudicate(access=access, pair=pair, grade=3, reason="It answers.", at=NOW)
    consolidate(list_id=world.judgments.pk, at=NOW)
    found = ask("q1", "d1").json()
    newest, oldest = found["judgments"]
    assert (newest["grade"], newest["since"], newest["until"]) == (3, 2, None)
    assert (oldest["grade"], oldest["until"], oldest["reason"]) == (1, 2, "from before")
    assert (oldest["who"], oldest["source"], newest["source"]) == (
        "Ada",
        "import",
        "adjudication",
    )
    (asked,) = found["campaigns"]
    assert (asked["campaign"], asked["grade"]) == (str(campaign.public_id), 3)
    said = [(one["annotator"], one["grade"], one["is_current"]) for one in asked["labels"]]
    assert said == [("Ben", 0, True), ("Cem", 4, True)]
    (decision,) = asked["decisions"]
    assert (decision["who"], decision["grade"], decision["reason"]) == ("Ada", 3, "It answers.")
    assert decision["reopened_by"] == ""


def test_an_imported_judgment_that_nobody_was_asked_about_has_a_history_too(world):
    pair = (world.queries[1], world.documents[1])
    commit(judgment_list=world.judgments, grades={pair: 2}, reason="old qrels")
    found = ask("q2", "d2").json()
    assert [one["reason"] for one in found["judgments"]] == ["old qrels"]
    assert found["campaigns"] == []
    assert ask("q2", "d3").json()["judgments"] == []


@pytest.mark.parametrize("user", ["ben", "dora", "eve"])
def test_it_is_for_leads_alone(world, user):
    assert is_problem(ask("q1", "d1", user), 404, "not_found")
