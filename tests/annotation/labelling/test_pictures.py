"""Pictures at the pairs that an annotator labels: theirs alone, and telling nothing."""

import pytest
from django.urls import reverse

from annotation.gold.services import change_checks, mark_gold
from annotation.models import Campaign
from judgments.models import Document, Picture
from tests.annotation.page_reading import client_of
from tests.builders import NOW, make_access, make_world
from tests.builders_annotation import label, lease, make_campaign, shown_at
from tests.judgments.pictures.drawing import choose, data_uri, drawn, load

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]


@pytest.fixture
def world():
    made = make_world(queries=1, documents=4)
    documents = {
        f"d{n}": {"title": f"Title {n}", "photo": data_uri(drawn(colour=n))} for n in range(1, 5)
    }
    load(made.collection, documents | {"d4": {"photo": "missing.png", "brand": "Acme"}})
    choose(made.collection, photo="medium")
    return made


def next_pairs(client, campaign, count=60):
    answer = client.post(
        reverse("api-campaign-next", args=[campaign.public_id]),
        {"count": count},
        content_type="application/json",
    )
    assert answer.status_code == 200
    return answer.json()["pairs"]


def picture_of(docid):
    return Picture.objects.get(documents__document__docid=docid)


def url_of(campaign, docid):
    return reverse("label-picture", args=[campaign.public_id, picture_of(docid).public_id])


def test_a_pair_comes_with_the_addresses_of_its_pictures_and_without_the_field(world):
    campaign = make_campaign(world=world)
    pairs = {
        pair["document"]["title"]: pair["document"]
        for pair in next_pairs(client_of("ben"), campaign)
    }
    assert pairs["Title 1"]["pictures"] == [
        {"url": url_of(campaign, "d1"), "size": "medium", "note": ""}
    ]
    assert pairs["Title 1"]["fields"] == {}
    assert pairs[""]["pictures"] == [{"url": "", "size": "medium", "note": "Not uploaded."}]
    assert pairs[""]["fields"] == {"brand": "Acme"}


def test_an_annotator_gets_the_pictures_of_their_own_pairs_alone(world):
    query = world.queries[0]
    campaign = make_campaign(world=world, pairs=[(query, one) for one in world.documents[:2]])
    ben = client_of("ben")
    assert ben.get(url_of(campaign, "d1")).status_code == 404
    next_pairs(ben, campaign)
    answer = ben.get(url_of(campaign, "d1"))
    assert answer.status_code == 200
    assert answer["Content-Type"] == "image/webp"
    assert answer["Cache-Control"] == "private, max-age=31536000, immutable"
    assert ben.get(url_of(campaign, "d3")).status_code == 404
    # others have nothing before them; leads read pictures elsewhere
    assert client_of("cem").get(url_of(campaign, "d1")).status_code == 404
    assert client_of("ada").get(url_of(campaign, "d1")).status_code == 404
    member = reverse("picture", args=[world.collection.slug, picture_of("d1").public_id])
    assert ben.get(member).status_code == 404


def test_what_was_labelled_or_given_back_keeps_its_pictures(world):
    campaign = make_campaign(world=world)
    ben = client_of("ben")
    seats = {
        Document.objects.get(pk=seat.pair.document_id).docid: seat
        for seat in lease(campaign=campaign, username="ben")
    }
    label(pair=seats["d1"].pair, username="ben", grade=2)
    release = reverse("api-campaign-release", args=[campaign.public_id])
    assert ben.post(release, {}, content_type="application/json").json() == {"released": 3}
    assert ben.get(url_of(campaign, "d1")).status_code == 200
    # a page that was reloaded gives back what the new one shows
    assert ben.get(url_of(campaign, "d2")).status_code == 200
    labels = reverse("api-campaign-labels", args=[campaign.public_id])
    (own,) = ben.get(labels).json()
    assert own["pair"]["document"]["pictures"][0]["url"] == url_of(campaign, "d1")


def test_the_table_of_own_labels_has_a_small_picture_where_there_is_one(world):
    campaign = make_campaign(world=world)
    for pair in campaign.pairs.filter(document__docid__in=["d1", "d4"]):
        label(pair=pair, username="ben", grade=2)
    url = reverse("label-own-labels", args=[campaign.public_id])
    page = client_of("ben").get(url).content.decode()
    assert page.count('class="picture thumb"') == 1
    assert f'src="{url_of(campaign, "d1")}"' in page


def test_a_stand_in_has_the_pictures_of_what_is_shown():
    world = make_world(queries=1, documents=20)
    photos = {f"d{n}": {"photo": data_uri(drawn(colour=n))} for n in range(1, 21)}
    load(world.collection, photos)
    choose(world.collection, photo="medium")
    campaign = make_campaign(world=world, overlap=1)
    Campaign.objects.update(secret="the scene's")  # so that it always plants some
    access = make_access(collection=world.collection)
    for pair in campaign.pairs.order_by("pk")[:8]:
        mark_gold(access=access, pair=pair, low=3, high=3, reason="", at=NOW)
    change_checks(access=access, campaign=campaign, at=NOW, gold_percent=30)
    ben = client_of("ben")
    seats = lease(campaign=campaign, username="ben", count=12)
    assert any(seat.stand_in for seat in seats)
    shown = {shown_at(seat) for seat in seats}
    seen = {
        pair.pk
        for pair in campaign.pairs.select_related("document")
        if ben.get(url_of(campaign, pair.document.docid)).status_code == 200
    }
    assert seen == shown


def test_leads_see_pictures_where_they_decide(world):
    campaign = make_campaign(world=world)
    pair = campaign.pairs.get(document__docid="d1")
    page = client_of("ada").get(reverse("pair", args=["books", pair.pk])).content.decode()
    assert f'src="/c/books/pictures/{picture_of("d1").public_id}"' in page
    assert "picture:" not in page
