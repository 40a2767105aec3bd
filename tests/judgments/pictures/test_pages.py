"""The page of a collection's pictures, the pictures themselves, and both over REST."""

import uuid

import pytest
from django.urls import reverse

from judgments.jobs.services import work_jobs
from judgments.models import AuditEntry, Collection, Picture
from tests.annotation.page_reading import client_of
from tests.builders import make_collection
from tests.judgments.pictures.drawing import choose, data_uri, drawn, load

pytestmark = pytest.mark.django_db
TRUE_URI = data_uri(drawn())


@pytest.fixture
def books():
    collection = make_collection()
    load(collection, {"d1": {"title": "A shoe", "photo": TRUE_URI, "brand": "Acme"}})
    return collection


@pytest.fixture
def ada(books):
    return client_of("ada")


def text_of(response):
    assert response.status_code == 200
    return response.content.decode()


def test_a_lead_chooses_among_the_fields_that_the_documents_have(books, ada):
    url = reverse("pictures", args=["books"])
    page = text_of(ada.get(url))
    assert 'name="size:photo"' in page
    assert 'name="size:brand"' not in page
    answer = ada.post(url, {"size:photo": "large", "other": "more pictures"})
    assert answer.status_code == 302
    chosen = [{"field": "photo", "size": "large"}, {"field": "more pictures", "size": "medium"}]
    assert Collection.objects.get(slug="books").picture_fields == chosen
    assert AuditEntry.objects.filter(action="pictures.fields_chosen").count() == 1
    page = text_of(ada.get(url))
    assert 'name="size:more pictures"' in page
    assert "hx-get" in page
    work_jobs()
    page = text_of(ada.get(url))
    assert "hx-get" not in page
    part = text_of(ada.get(url, headers={"HX-Request": "true"}))
    assert part.lstrip().startswith("<section")


def test_a_size_that_there_is_not_is_refused(books, ada):
    answer = ada.post(reverse("pictures", args=["books"]), {"size:photo": "huge"})
    assert "Select a valid choice" in text_of(answer)
    assert Collection.objects.get(slug="books").picture_fields == []


def test_a_picture_is_served_so_that_a_browser_keeps_it_and_runs_nothing(books, ada):
    choose(books, photo="small")
    picture = Picture.objects.get()
    answer = ada.get(reverse("picture", args=["books", picture.public_id]))
    assert answer.content == bytes(picture.content.data)
    assert answer["Content-Type"] == "image/webp"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cache-Control"] == "private, max-age=31536000, immutable"
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert not answer.cookies
    assert ada.get(reverse("picture", args=["books", uuid.uuid4()])).status_code == 404


def test_a_picture_that_is_not_stored_is_not_served(books, ada):
    picture = Picture.objects.get()
    assert picture.state == "waiting"
    assert bytes(picture.content.data) == drawn()
    assert ada.get(reverse("picture", args=["books", picture.public_id])).status_code == 404


def test_the_document_page_shows_pictures_and_says_why_one_is_missing(books, ada):
    load(books, {"d2": {"photo": "a.png"}})
    choose(books, photo="small")
    page = text_of(ada.get(reverse("document", args=["books", "d1"])))
    name = Picture.objects.get(state="stored").public_id
    assert f'class="picture small" src="/c/books/pictures/{name}" alt="A shoe"' in page
    assert "picture:" not in page
    page = text_of(ada.get(reverse("document", args=["books", "d2"])))
    assert "No picture. Not uploaded." in page


def test_pictures_are_chosen_and_counted_over_rest(books, ada):
    url = reverse("api-pictures", args=["books"])
    answer = ada.put(url, {"fields": [{"field": "photo"}]}, content_type="application/json")
    assert answer.status_code == 200
    assert answer.json()["fields"] == [{"field": "photo", "size": "medium"}]
    assert answer.json()["is_running"] is True
    load(books, {"d2": {"photo": data_uri(b"no")}})
    work_jobs()
    found = ada.get(url).json()
    assert {key: found[key] for key in ("waiting", "missing", "stored", "refused")} == {
        "waiting": 0,
        "missing": 0,
        "stored": 1,
        "refused": 1,
    }
    (reason,) = found["reasons"]
    assert (reason["reason"], reason["pictures"]) == ("not_a_picture", 1)
    wrong = {"fields": [{"field": "photo", "size": "huge"}]}
    assert ada.put(url, wrong, content_type="application/json").status_code == 400
    wrong = {"fields": [{"field": "html", "size": "small"}]}
    assert ada.put(url, wrong, content_type="application/json").status_code == 422
