"""Gold in bulk: from a file on the page and over REST, and from another list."""

import io
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.campaigns.services import close_campaign
from annotation.gold.adding import (
    GoldAdded,
    add_gold_file,
    draw_gold_of_list,
    list_gold,
)
from annotation.gold.files import GoldAnswer, gold_csv, read_gold
from annotation.gold.services import GoldRefused, mark_gold
from annotation.models import Assignment, Campaign, GoldItem
from judgments.models import AuditEntry, JudgmentList
from judgments.permissions import Access, NotFound
from tests.annotation.page_reading import client_of, links, of, words
from tests.api.callers import by_token, is_problem, post_file
from tests.builders import NOW, World, commit, make_list, make_world
from tests.builders_annotation import make_campaign
from touchstone.files.errors import FileRefused
from touchstone.scales import Scale

pytestmark = pytest.mark.django_db

FILE = "query_id,doc_id,grade,highest_grade,reason\nq1,d1,3,4,The title says it. 📁\nq2,d2,0,,\n"


@pytest.fixture
def world() -> World:
    return make_world(queries=2, documents=3)


@pytest.fixture
def campaign(world: World) -> Campaign:
    return make_campaign(world=world)


def add(ada: Access, campaign: Campaign, text: str, *, adds_pairs: bool = False) -> GoldAdded:
    scale = Scale.from_json(campaign.list.scale)
    given = read_gold(io.BytesIO(text.encode()), name="gold.csv", scale=scale)
    return add_gold_file(access=ada, campaign=campaign, given=given, adds_pairs=adds_pairs, at=NOW)


def problems(ada: Access, campaign: Campaign, text: str) -> list[tuple[int, str]]:
    with pytest.raises(FileRefused) as refused:
        add(ada, campaign, text)
    assert not GoldItem.objects.exists()
    return [(one.line, one.rule) for one in refused.value.problems]


def lines(*rows: str) -> str:
    return "\n".join(["query_id,doc_id,grade", *rows])


def make_small(world: World, *, queries: int = 2) -> Campaign:
    """A campaign without the third document."""
    pairs = [(query, doc) for query in world.queries[:queries] for doc in world.documents[:2]]
    return make_campaign(world=world, pairs=pairs)


def test_a_file_makes_gold_of_its_pairs(campaign: Campaign, ada: Access) -> None:
    assert add(ada, campaign, FILE) == GoldAdded(gold=2, pairs=0, unchanged=0)
    first, second = list_gold(access=ada, campaign=campaign)
    assert first == GoldAnswer("q1", "d1", 3, 4, "The title says it. 📁")
    assert second == GoldAnswer("q2", "d2", 0, 0, "")
    gold_pairs = campaign.gold.values("pair")
    assert not Assignment.objects.filter(pair__in=gold_pairs, state="free").exists()
    entry = AuditEntry.objects.get(action="gold.marked")
    assert (entry.after["file"], len(entry.after["pairs"])) == ("gold.csv", 2)


def test_what_is_written_is_read_again_and_changes_nothing(campaign: Campaign, ada: Access) -> None:
    add(ada, campaign, FILE.replace("The title", "=The title"))
    text = "".join(gold_csv(list_gold(access=ada, campaign=campaign)))
    assert "'=The title" in text  # no formula for a spreadsheet
    assert add(ada, campaign, text) == GoldAdded(gold=0, pairs=0, unchanged=2)


def test_json_lines_are_taken_too(campaign: Campaign, ada: Access) -> None:
    text = '{"query_id": "q1", "doc_id": "d2", "grade": 2, "highest_grade": null, "reason": "So."}'
    assert add(ada, campaign, text).gold == 1
    assert list_gold(access=ada, campaign=campaign) == [GoldAnswer("q1", "d2", 2, 2, "So.")]


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        ("q1,d1,high", "grade"),
        ("q1,d1,9", "scale"),
        ("q1,d1", "columns"),
        ("q9,d1,1", "unknown-query"),
        ("q1,d9,1", "unknown-document"),
        (",d1,1", "id"),
    ],
)
def test_a_line_that_is_wrong_is_named_and_nothing_is_added(
    campaign: Campaign, ada: Access, row: str, rule: str
) -> None:
    assert problems(ada, campaign, lines("q1,d2,3", row)) == [(3, rule)]


def test_a_pair_is_in_a_file_once(campaign: Campaign, ada: Access) -> None:
    assert problems(ada, campaign, lines("q1,d2,3", "q1,d2,3")) == [(3, "duplicate")]


def test_a_range_ends_above_its_beginning(campaign: Campaign, ada: Access) -> None:
    text = "query_id,doc_id,grade,highest_grade\nq1,d1,3,2\n"
    assert problems(ada, campaign, text) == [(2, "grade")]


def test_an_empty_file_and_one_too_long_are_refused(
    campaign: Campaign, ada: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert problems(ada, campaign, lines()) == [(1, "empty")]
    monkeypatch.setattr("annotation.gold.files.MOST_ANSWERS", 1)
    assert problems(ada, campaign, lines("q1,d1,1", "q1,d2,1")) == [(3, "too-much")]


def test_another_answer_than_the_standing_one_is_refused(campaign: Campaign, ada: Access) -> None:
    pair = campaign.pairs.get(query__qid="q1", document__docid="d1")
    mark_gold(access=ada, pair=pair, low=3, high=4, reason="", at=NOW)
    with pytest.raises(FileRefused, match="already gold, with grades 3 to 4"):
        add(ada, campaign, lines("q1,d1,2", "q1,d2,2"))
    assert campaign.gold.count() == 1


def test_pairs_that_the_campaign_lacks_are_added_when_asked(world: World, ada: Access) -> None:
    campaign, text = make_small(world), lines("q1,d3,4", "q1,d1,0")
    assert problems(ada, campaign, text) == [(2, "pair-not-in-campaign")]
    assert add(ada, campaign, text, adds_pairs=True) == GoldAdded(gold=2, pairs=1, unchanged=0)
    pair = campaign.pairs.get(document__docid="d3")
    assert pair.is_open
    assert not pair.assignments.exists()


def test_a_query_without_other_pairs_takes_no_gold(world: World, ada: Access) -> None:
    campaign = make_small(world, queries=1)
    with pytest.raises(FileRefused, match="the campaign has no pair of query q2"):
        add(ada, campaign, lines("q2,d1,1"), adds_pairs=True)


def test_a_pair_that_is_open_elsewhere_is_not_added(world: World, ada: Access) -> None:
    campaign = make_small(world)
    make_campaign(world=world, name="Other", pairs=[(world.queries[0], world.documents[2])])
    with pytest.raises(GoldRefused, match="open in another campaign"):
        add(ada, campaign, lines("q1,d3,4"), adds_pairs=True)
    assert not campaign.gold.exists()


def test_a_closed_campaign_takes_no_gold(campaign: Campaign, ada: Access) -> None:
    close_campaign(access=ada, campaign=campaign, at=NOW)
    with pytest.raises(GoldRefused, match="closed"):
        add(ada, campaign, FILE)


@pytest.fixture
def known(world: World) -> JudgmentList:
    """Another list, which has graded three pairs."""
    (q1, q2), (d1, d2, _) = world.queries, world.documents
    made = make_list(collection=world.collection, slug="expert")
    commit(judgment_list=made, grades={(q1, d1): 4, (q1, d2): 0, (q2, d1): 2})
    return made


def test_grades_of_another_list_become_gold(
    campaign: Campaign, ada: Access, known: JudgmentList
) -> None:
    drawn = draw_gold_of_list(access=ada, campaign=campaign, source=known, count=2, seed=1, at=NOW)
    assert len(drawn) == 2
    rest = draw_gold_of_list(access=ada, campaign=campaign, source=known, count=9, seed=1, at=NOW)
    assert len(rest) == 1
    assert {(item.pair.query.qid, item.pair.document.docid, item.low) for item in drawn + rest} == {
        ("q1", "d1", 4),
        ("q1", "d2", 0),
        ("q2", "d1", 2),
    }
    assert {item.reason for item in drawn} == {"Grade in Expert, version 1."}
    with pytest.raises(GoldRefused, match="no grade for a pair"):
        draw_gold_of_list(access=ada, campaign=campaign, source=known, count=1, seed=1, at=NOW)


def test_the_campaigns_own_list_is_no_source(campaign: Campaign, ada: Access) -> None:
    with pytest.raises(NotFound):
        draw_gold_of_list(
            access=ada, campaign=campaign, source=campaign.list, count=1, seed=1, at=NOW
        )


def test_a_lead_adds_a_file_on_the_page_and_saves_it_again(campaign: Campaign) -> None:
    ada = client_of("ada")
    assert of("campaign-gold-add", campaign) in links(ada.get(of("campaign-gold", campaign)))
    file = SimpleUploadedFile("gold.csv", FILE.encode())
    page = ada.post(of("campaign-gold-add", campaign), {"file": file}, follow=True)
    assert "2 pairs are now gold." in words(page)
    saved: Any = ada.get(of("campaign-gold-csv", campaign))
    assert b"".join(saved.streaming_content).decode() == FILE.replace("q2,d2,0,,", "q2,d2,0,0,")
    assert 'filename="gold-' in saved["Content-Disposition"]


def test_the_page_names_the_lines_that_are_wrong(campaign: Campaign) -> None:
    file = SimpleUploadedFile("gold.csv", lines("q1,d1,9", "q1,d2,9").encode())
    page = words(client_of("ada").post(of("campaign-gold-add", campaign), {"file": file}))
    assert "No gold was added." in page
    assert "Lines 2, 3." in page
    assert "the list has no grade 9" in page
    assert not GoldItem.objects.exists()


def test_a_lead_draws_from_another_list_on_the_page(
    campaign: Campaign, known: JudgmentList
) -> None:
    ada = client_of("ada")
    assert "From another list" in words(ada.get(of("campaign-gold-add", campaign)))
    said = {"judgment_list": "expert", "count": "2"}
    page = ada.post(of("campaign-gold-add", campaign), said, follow=True)
    assert "2 pairs are now gold." in words(page)
    said["judgment_list"] = "main"
    ada.post(of("campaign-gold-add", campaign), said)
    assert GoldItem.objects.count() == 2


def test_gold_over_rest(campaign: Campaign) -> None:
    client, url = by_token("ada"), f"/api/v1/campaigns/{campaign.public_id}/gold"
    made = post_file(client, url, FILE)
    assert (made.status_code, made.json()) == (201, {"gold": 2, "pairs": 0, "unchanged": 0})
    again = post_file(client, url, FILE)
    assert (again.status_code, again.json()["unchanged"]) == (200, 2)
    found = client.get(url).json()["gold"]
    assert found[0] == {
        "query_id": "q1",
        "doc_id": "d1",
        "grade": 3,
        "highest_grade": 4,
        "reason": "The title says it. 📁",
    }
    is_problem(post_file(client, url, lines("q1,d9,1")), 422, "file_refused")
