"""Pairs as leads see and decide them."""

import pytest
from django.urls import reverse

from annotation.campaigns.services import close_campaign
from annotation.consolidation.services import consolidate
from annotation.models import Adjudication, Campaign, Pair
from annotation.quality.services import refresh_quality
from judgments.models import Document, Judgment, JudgmentVersion, Query
from tests.annotation.page_reading import client_of, counted, links, of, words
from tests.builders import (
    NOW,
    World,
    commit,
    make_access,
    make_documents,
    make_list,
    make_user,
    make_world,
)
from tests.builders_annotation import fill, label, make_campaign, make_draft, make_guideline
from touchstone.scales import Scale

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, Campaign]:
    """Three pairs that differ, by 1, 4 and 2 steps, one on which both agree, one half labelled."""
    world = make_world()
    campaign = make_campaign(
        world=world, pairs=[(world.queries[0], document) for document in world.documents]
    )
    given = [(0, 1), (0, 4), (1, 3), (2, 2)]
    for pair, (ben, cem) in zip(campaign.pairs.select_related("campaign"), given, strict=False):
        label(pair=pair, username="ben", grade=ben)
        label(pair=pair, username="cem", grade=cem)
    label(pair=pair_of(campaign, "d5"), username="ben", grade=3, note="Half of it 📁")
    consolidate(list_id=campaign.list_id, at=NOW)
    return world, campaign


def pair_of(campaign: Campaign, docid: str) -> Pair:
    return campaign.pairs.select_related("campaign").get(document__docid=docid)


def address(pair: Pair) -> str:
    return reverse("pair", args=[pair.list.collection.slug, pair.pk])


def shown(campaign: Campaign, query: str) -> list[str]:
    page = client_of("ada").get(f"{of('campaign-pairs', campaign)}?{query}")
    return [row.pair.document.docid for row in page.context["page"].rows]


# finding pairs


def test_pairs_are_found_by_state_query_and_disagreement(campaign: Campaign) -> None:
    assert shown(campaign, "") == ["d1", "d2", "d3", "d4", "d5"]
    assert shown(campaign, "show=tied") == ["d1", "d2", "d3"]
    assert shown(campaign, "show=complete") == ["d4"]
    assert shown(campaign, "show=open") == ["d5"]
    assert shown(campaign, "show=adjudicated") == []
    assert shown(campaign, "show=differ") == ["d2", "d3", "d1"]
    assert shown(campaign, "show=nonsense") == ["d1", "d2", "d3", "d4", "d5"]
    assert shown(campaign, "query=q1&show=differ") == ["d2", "d3", "d1"]
    assert shown(campaign, "query=q2") == []


def test_pairs_are_found_by_what_was_said_of_them(world: World, campaign: Campaign) -> None:
    made = pair_of(campaign, "d3").labels.get(annotator__username="ben").made_at.timestamp()
    assert shown(campaign, "person=ben") == ["d1", "d2", "d3", "d4", "d5"]
    assert shown(campaign, "person=ben&other=cem") == ["d1", "d2", "d3", "d4"]
    assert shown(campaign, "person=ada") == []
    assert shown(campaign, "grade=3") == ["d3", "d5"]
    # one label is meant by all of it: Ben said 3 of d5 alone
    assert shown(campaign, "grade=3&person=ben") == ["d5"]
    assert shown(campaign, "grade=3&show=differ") == ["d3"]
    assert shown(campaign, "revision=1&grade=4") == ["d2"]
    assert shown(campaign, "revision=2") == []
    assert "d3" in shown(campaign, f"person=ben&since={made!r}&until={made!r}")
    assert shown(campaign, f"until={made - 1e6!r}") == []
    assert shown(campaign, "segment=head") == ["d1", "d2", "d3", "d4", "d5"]
    Query.objects.filter(pk=world.queries[0].pk).update(segment="a & b")
    assert shown(campaign, "segment=a+%26+b&grade=3") == ["d3", "d5"]
    assert shown(campaign, "segment=") == []
    # what can't be read narrows nothing
    assert shown(campaign, "grade=x&since=nan&revision=-1") == ["d1", "d2", "d3", "d4", "d5"]
    page = client_of("ada").get(f"{of('campaign-pairs', campaign)}?grade=3&person=ben&segment=z")
    assert "segment “z”" in words(page)
    assert "a label by Ben" in words(page)
    assert "labels may have been added, corrected" in words(page)


def test_the_links_of_the_report_lead_to_as_many_pairs_as_it_counts(campaign: Campaign) -> None:
    refresh_quality(campaign_id=campaign.pk, clock=lambda: NOW)
    ada = client_of("ada")
    report = ada.get(of("campaign-quality", campaign))
    figures = report.context["page"].figures
    pairs = of("campaign-pairs", campaign)
    for query, count in (
        ("person=ben", figures["annotators"][0]["labels"]),
        ("person=ben&other=cem", figures["pairs_of_people"][0]["units"]),
    ):
        assert f"{pairs}?{query}" in links(report)
        assert len(shown(campaign, query)) == count


def test_an_empty_selection_says_what_it_means(world: World, campaign: Campaign) -> None:
    ada, pairs = client_of("ada"), of("campaign-pairs", campaign)
    assert "No pair of this query matches." in words(ada.get(f"{pairs}?query=zz"))
    assert "None of the campaign’s pairs" in words(ada.get(f"{pairs}?show=adjudicated"))
    draft = make_draft(world=world, name="Draft")
    seen = words(ada.get(f"{of('campaign-pairs', draft)}?show=differ"))
    assert "No disagreements" in seen


def test_the_campaigns_of_others_have_no_pairs_for_one(campaign: Campaign) -> None:
    for username in ("ben", "dora", "eve"):
        assert client_of(username).get(of("campaign-pairs", campaign)).status_code == 404


def test_many_pairs_come_in_pages_at_the_same_cost(world: World, campaign: Campaign) -> None:
    ada, pairs = client_of("ada"), of("campaign-pairs", campaign)
    ada.get(pairs)
    with counted() as few:
        ada.get(pairs)
    documents = make_documents(collection=world.collection, count=120, prefix="more")
    fill(campaign=campaign, pairs=[(world.queries[1], document) for document in documents])
    with counted() as many:
        page = ada.get(f"{pairs}?page=3")
    assert "101–125 of 125" in words(page)
    assert len(many) == len(few)


# one pair


def test_a_pair_shows_the_text_and_what_everybody_said(world: World, campaign: Campaign) -> None:
    Query.objects.filter(pk=world.queries[0].pk).update(text="כיצד <b>קובץ</b> 📄")
    Document.objects.filter(pk=world.documents[4].pk).update(
        body="Line <i>one</i>", content_hash="f" * 64
    )
    pair = pair_of(campaign, "d5")
    label(pair=pair, username="ben", grade=1, note="On second thoughts")
    page = client_of("ada").get(address(pair))
    html, seen = page.content.decode(), words(page)
    assert "כיצד &lt;b&gt;קובץ&lt;/b&gt; 📄" in html
    assert "Line &lt;i&gt;one&lt;/i&gt;" in html
    assert "Ben 3 Highly relevant corrected Half of it 📁" in seen
    assert "older text" in seen
    assert "Ben 1 Related On second thoughts" in seen
    assert "bm25-run bm25 5" in seen
    assert "The list has no grade for this pair." in seen


def test_a_pair_says_which_versions_carry_its_grades(world: World, campaign: Campaign) -> None:
    pair = pair_of(campaign, "d4")
    commit(
        judgment_list=world.judgments,
        grades={(pair.query, pair.document): 4},
        by=world.ada,
        reason="from a file",
    )
    page = client_of("ada").get(address(pair))
    seen = words(page)
    assert "4 Perfect since version 2" in seen
    assert "from a file" in seen
    assert "2 Partly relevant since version 1 , until 2" in seen
    assert "Labels of First" in seen
    assert reverse("version", args=["books", "main", 2]) in links(page)


def test_deciding_puts_the_grade_into_the_list_and_goes_to_the_next(campaign: Campaign) -> None:
    ada = client_of("ada")
    widest, wide, near = (pair_of(campaign, docid) for docid in ("d2", "d3", "d1"))
    page = ada.get(address(widest))
    assert "2 other pairs need adjudication" in words(page)
    assert address(wide) in links(page)
    answer = ada.post(address(widest), {"grade": "2", "reason": "Names it, no more."})
    assert answer["Location"] == address(wide)
    decided = Adjudication.objects.get()
    assert (decided.grade, decided.reason, decided.decided_by.username) == (
        2, "Names it, no more.", "ada",
    )  # fmt: skip
    held = Judgment.objects.get(document=widest.document_id, until=None)
    assert held.grade == 2
    version = JudgmentVersion.objects.get(number=held.since)
    assert (version.source, version.reason) == ("adjudication", "Names it, no more.")
    assert "Adjudicated: q1 d2, 2." in words(ada.get(answer["Location"]))
    assert ada.post(address(wide), {"grade": "1", "reason": "So."})["Location"] == address(near)
    last = ada.post(address(near), {"grade": "0", "reason": "So."})
    assert last["Location"] == address(near)
    assert "Next to adjudicate" not in words(ada.get(last["Location"]))
    assert shown(campaign, "show=adjudicated") == ["d1", "d2", "d3"]


def test_a_decision_without_a_grade_keeps_the_reason(campaign: Campaign) -> None:
    pair = pair_of(campaign, "d2")
    for grade in ({}, {"grade": "7"}, {"grade": "x"}):
        page = client_of("ada").post(address(pair), grade | {"reason": "Because <it> is"})
        assert page.status_code == 200
        assert "Because &lt;it&gt; is" in page.content.decode()
    assert not Adjudication.objects.exists()


def test_a_second_decision_follows_the_first_and_both_stay(campaign: Campaign) -> None:
    pair = pair_of(campaign, "d2")
    ada = client_of("ada")
    ada.post(address(pair), {"grade": "2", "reason": "First"})
    ada.post(address(pair), {"grade": "3", "reason": "Second"})
    seen = words(ada.get(address(pair)))
    assert seen.index("decided 3") < seen.index("decided 2")
    assert "2 Partly relevant since version 2 , until 3" in seen


def test_a_draft_is_not_decided_and_a_pair_open_elsewhere_is_decided_there(
    world: World, campaign: Campaign
) -> None:
    ada = client_of("ada")
    draft = make_draft(world=world, name="Draft", pairs=[(world.queries[2], world.documents[0])])
    assert "The campaign has not been opened yet." in words(ada.get(address(draft.pairs.get())))
    access = make_access(collection=world.collection)
    close_campaign(access=access, campaign=campaign, at=NOW)
    make_campaign(world=world, name="Later", pairs=[(world.queries[0], world.documents[1])])
    pair = pair_of(campaign, "d2")
    assert "open in the campaign Later. Adjudicate it there." in words(ada.get(address(pair)))
    page = ada.post(address(pair), {"grade": "2", "reason": "So."})
    assert "Adjudicate it there" in words(page)
    assert not Adjudication.objects.exists()


def test_every_grade_of_another_scale_has_its_button_and_key() -> None:
    world = make_world(slug="films")
    signed = make_list(collection=world.collection, slug="signed", scale=Scale.parse("-2..2"))
    make_guideline(world=world, name="Signed", judgment_list=signed)
    campaign = make_campaign(
        world=world, judgment_list=signed, pairs=[(world.queries[0], world.documents[0])]
    )
    pair = campaign.pairs.select_related("campaign").get()
    label(pair=pair, username="ben", grade=-2)
    label(pair=pair, username="cem", grade=2)
    consolidate(list_id=signed.pk, at=NOW)
    html = client_of("ada").get(address(pair)).content.decode()
    assert 'name="grade" value="-2" data-key="1"' in html
    assert 'name="grade" value="2" data-key="5"' in html
    client_of("ada").post(address(pair), {"grade": "-1", "reason": "So."})
    assert Judgment.objects.get(list=signed).grade == -1


def test_an_admin_reads_and_does_not_decide(campaign: Campaign) -> None:
    make_user(username="root", is_superuser=True)
    pair = pair_of(campaign, "d2")
    page = client_of("root").get(address(pair))
    assert "Ben" in words(page)
    assert 'name="grade"' not in page.content.decode()
    assert client_of("root").post(address(pair), {"grade": "1", "reason": "So."}).status_code == 404


def test_a_pair_is_read_at_the_same_cost_whoever_said_how_much(
    world: World, campaign: Campaign
) -> None:
    ada, pair = client_of("ada"), pair_of(campaign, "d4")
    ada.post(address(pair), {"grade": "0", "reason": "So."})
    ada.get(address(pair))
    with counted() as few:
        ada.get(address(pair))
    for grade in (1, 2, 3, 4, 1, 2):
        label(pair=pair, username="ben", grade=grade)
        ada.post(address(pair), {"grade": str(grade), "reason": "So."})
    ada.get(address(pair))
    with counted() as many:
        ada.get(address(pair))
    assert len(many) == len(few)


# from a list to its people


def test_a_version_of_labels_leads_to_what_was_said(world: World, campaign: Campaign) -> None:
    ada = client_of("ada")
    page = ada.get(reverse("version", args=["books", "main", 1]))
    link = next(one for one in links(page) if "/pair?" in one)
    assert ada.get(link.replace("&amp;", "&"))["Location"] == address(pair_of(campaign, "d4"))
    dora = client_of("dora").get(reverse("version", args=["books", "main", 1]))
    assert not any("/pair?" in one for one in links(dora))


def test_an_imported_grade_leads_to_the_versions_that_set_it() -> None:
    world = make_world(slug="films")
    pair = (world.queries[0], world.documents[0])
    commit(judgment_list=world.judgments, grades={pair: 3}, reason="from TREC")
    commit(judgment_list=world.judgments, grades={pair: 1}, reason="second thoughts")
    ada = client_of("ada")
    for name, place in (("version", ["main", 2]), ("query", ["q1"]), ("document", ["d1"])):
        page = ada.get(reverse(name, args=["films", *place]))
        link = next(one for one in links(page) if "/pair?" in one)
        found = ada.get(link.replace("&amp;", "&"))
        assert [(one.grade, one.since, one.until) for one in found.context["page"].judgments] == [
            (1, 2, None),
            (3, 1, 2),
        ]
    assert reverse("version", args=["films", "main", 1]) in links(found)
    assert "from TREC" in words(found)
    lookup = reverse("pair-of-list", args=["films", "main"])
    assert ada.get(f"{lookup}?query=q1&document=nowhere").status_code == 404
    assert client_of("dora").get(f"{lookup}?query=q1&document=d1").status_code == 404


# who is behind a version


def test_a_version_says_whose_labels_are_behind_it(world: World, campaign: Campaign) -> None:
    place = ["books", world.judgments.slug, 1]
    page = client_of("ada").get(reverse("version", args=["books", world.judgments.slug, "1"]))
    people = reverse("version-people", args=place)
    assert f'hx-get="{people}"' in page.content.decode()
    assert "Ben (1 label) , Cem (1 label)" in words(client_of("ada").get(people))
    versions = client_of("ada").get(reverse("list", args=place[:2]))
    assert words(versions).count("annotators") == 1
    assert client_of("ada").get(reverse("version-people", args=[*place[:2], 9])).status_code == 404
    for username in ("ben", "dora", "eve"):
        assert client_of(username).get(people).status_code == 404


def test_an_import_has_nobodys_labels_behind_it() -> None:
    world = make_world(slug="films")
    made = commit(judgment_list=world.judgments, grades={(world.queries[0], world.documents[0]): 3})
    people = reverse("version-people", args=["films", world.judgments.slug, made.number])
    assert "the changes do not come from labels" in words(client_of("ada").get(people))
