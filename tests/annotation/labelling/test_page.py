"""What an annotator's page tells of their own work: history, pace, a guideline that changed."""

import re
from datetime import timedelta
from typing import Any

import nh3
import pytest

from annotation.campaigns.services import change_campaign
from annotation.guidelines.services import revise_guideline
from annotation.guidelines.shown import get_guideline_change, get_last_revision
from annotation.guidelines.text_differences import ADDED, REMOVED
from annotation.labelling.own_labels import Pace, Wanted, list_own_labels, measure_pace
from annotation.labelling.preference_services import set_preferences
from annotation.labelling.preferences import get_preferences
from annotation.labelling.shown_pairs import list_leased_pairs
from annotation.models import Campaign
from annotation.pages.keys import KeysRefused
from judgments.collections.services import load_documents
from judgments.models import Document, User
from judgments.pages.markup import clean_html
from judgments.permissions import NotFound
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import (
    context_of,
    grades_text,
    label,
    lease,
    make_campaign,
    said,
    seat_for,
)
from touchstone.files.collections import DocumentRecord

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, Campaign]:
    world = make_world(queries=2, documents=4)
    return world, make_campaign(world=world)


def test_the_history_can_be_filtered_by_what_was_said(campaign: Campaign) -> None:
    context = context_of(campaign, "ben")
    pairs = list(campaign.pairs.order_by("query", "document"))
    other_query = seat_for(pair=pairs[-1], username="ben").public_id
    label(pair=pairs[0], username="ben", grade=3)
    label(pair=pairs[1], username="ben", grade=1, note="half of it")
    label(pair=pairs[2], username="ben", reason="other", note="in Dutch")
    label(pair=pairs[-1], username="ben", grade=3)
    label(pair=pairs[0], username="cem", grade=3)

    def found(**wanted: Any) -> int:
        return len(list_own_labels(context, wanted=Wanted(**wanted)))

    assert found(grade=3) == 2
    assert found(cannot_tell=True) == 1
    assert found(noted=True) == 2
    assert found(noted=True, grade=1) == 1
    assert found(query_of=other_query) == 1
    assert found() == 4


def test_a_corrected_label_still_says_where_a_history_goes_on(campaign: Campaign) -> None:
    context = context_of(campaign, "ben")
    pairs = list(campaign.pairs.all())
    older = label(pair=pairs[0], username="ben", grade=1)
    newer = label(pair=pairs[1], username="ben", grade=2, at=NOW + timedelta(seconds=1))
    label(pair=pairs[1], username="ben", grade=4, at=NOW + timedelta(seconds=2))
    assert [one.id for one in list_own_labels(context, before=newer.pk)] == [older.pk]


def test_a_pair_says_how_many_of_its_query_are_done(campaign: Campaign) -> None:
    (first, second, *_) = lease(campaign=campaign, username="ben")
    label(pair=first.pair, username="ben", grade=1)
    shown = list_leased_pairs(context_of(campaign, "ben"))
    same = [pair for pair in shown if pair.query_text == first.pair.query.text]
    assert second.pair.query == first.pair.query
    assert {pair.query_done for pair in same} == {1}
    assert {pair.query_done for pair in shown} == {0, 1}


def test_the_pace_is_that_of_what_holds_and_has_a_time(campaign: Campaign) -> None:
    context = context_of(campaign, "ben")
    pairs = list(campaign.pairs.all())
    label(pair=pairs[0], username="ben", grade=1)
    label(pair=pairs[1], username="ben", grade=1, seconds=10.0)
    label(pair=pairs[1], username="ben", grade=2, seconds=8.0)
    label(pair=pairs[2], username="ben", grade=2, seconds=None)
    label(pair=pairs[3], username="cem", grade=2)
    assert measure_pace(context, since=NOW) == Pace(2, 12.5)
    assert measure_pace(context, since=NOW + timedelta(seconds=1)) == Pace(0, 0.0)


def test_a_revision_tells_what_changed_since_the_one_labelled_under_last(
    world: World, campaign: Campaign
) -> None:
    context = context_of(campaign, "ben")
    assert get_last_revision(context) is None
    label(pair=campaign.pairs.all()[0], username="ben", grade=1)
    grades = grades_text(judgment_list=world.judgments)
    grades[3]["definition"] = "What 3 really means."
    revise_guideline(
        access=make_access(collection=world.collection),
        at=NOW,
        guideline=campaign.guideline,
        judgment_list=world.judgments,
        text="Read the query, then the document.",
        grades=grades,
    )
    assert get_last_revision(context) == 1
    change = get_guideline_change(context, since=1)
    assert change.guideline.revision == 2
    assert not change.is_text_changed
    assert [grade.code for grade in change.grades] == [3]
    kinds = {one.kind: one.text for one in change.grades[0].definition}
    assert "really" in kinds[ADDED]
    assert REMOVED not in kinds
    with pytest.raises(NotFound):
        get_guideline_change(context, since=7)


def test_preferences_are_kept_for_their_person_alone(world: World) -> None:
    ben, cem = User.objects.get(username="ben"), User.objects.get(username="cem")
    view: dict[str, Any] = {
        "text_size": 130,
        "line_width": "wide",
        "marks_terms": False,
    }
    set_preferences(by=ben, keys={"undo": "z", "later": "s"}, **view)
    assert get_preferences(viewer=ben).keys == {"undo": "z"}
    assert get_preferences(viewer=ben).text_size == 130
    assert get_preferences(viewer=cem).keys == {}
    with pytest.raises(KeysRefused):
        set_preferences(by=ben, keys={"undo": "s"}, **view)
    assert get_preferences(viewer=ben).keys == {"undo": "z"}


def test_marks_come_back_with_the_label_that_they_belong_to(campaign: Campaign) -> None:
    seat = lease(campaign=campaign, username="ben")[0]
    spans = [{"field": "body", "start": 4, "end": 8}]
    assert said(seat=seat, grade=2, spans=spans).spans == spans
    label(pair=seat.pair, username="ben", grade=2, spans=spans)
    (own,) = list_own_labels(context_of(campaign, "ben"))
    assert (own.spans, own.guideline_revision) == (spans, 1)


def test_images_of_a_document_are_shown_where_the_campaign_says_so(
    world: World, campaign: Campaign
) -> None:
    image = '<img src="data:image/png;base64,AAAA" alt="a map">'
    fields = {"html": f"<p>see</p>{image}"}
    Document.objects.update(fields=fields, clean_html=clean_html(fields))
    assert lease(campaign=campaign, username="ben")
    assert all("<img" not in pair.html for pair in list_leased_pairs(context_of(campaign, "ben")))
    access = make_access(collection=world.collection)
    change_campaign(access=access, campaign=campaign, at=NOW, shows_images=True)
    campaign.refresh_from_db()
    assert all(image in pair.html for pair in list_leased_pairs(context_of(campaign, "ben")))


def test_no_html_is_cleaned_while_somebody_waits_for_pairs(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    for document in world.documents:
        record = DocumentRecord(
            doc_id=document.docid, fields={"html": f"<p onclick=x>{document.pk}"}, line=1
        )
        load_documents(collection=world.collection, records=[record], by=None, at=NOW)
    calls = []
    monkeypatch.setattr(nh3, "clean", lambda *args, **more: calls.append(args))
    assert lease(campaign=campaign, username="ben")
    shown = list_leased_pairs(context_of(campaign, "ben"))
    assert all(re.search(r"<p>\d+</p>", pair.html) for pair in shown)
    assert calls == []


def test_a_document_says_its_fields_in_words_without_the_empty_ones(campaign: Campaign) -> None:
    fields = {"price": 59, "gtin": 2**63 + 1, "colours": ["red", "blue"], "sold": False}
    nothing: dict[str, object] = {"note": "", "tags": [], "more": {}, "brand": None}
    Document.objects.update(fields=fields | nothing)
    lease(campaign=campaign, username="ben")
    (shown, *_) = list_leased_pairs(context_of(campaign, "ben"))
    assert shown.fields == {
        "price": "59",
        "gtin": "9223372036854775809",
        "colours": "red, blue",
        "sold": "no",
    }


def test_two_documents_with_the_same_text_have_two_names_and_a_pair_keeps_its_own(
    campaign: Campaign,
) -> None:
    Document.objects.update(title="Same", body="Same", content_hash="same")
    context = context_of(campaign, "ben")
    seats = lease(campaign=campaign, username="ben")
    shown = {pair.assignment: pair.name for pair in list_leased_pairs(context)}
    assert len(set(shown.values())) == len(shown) == len(seats)
    label(pair=seats[0].pair, username="ben", grade=1)
    (said_before,) = list_own_labels(context)
    assert said_before.pair.name == shown[seats[0].public_id]
