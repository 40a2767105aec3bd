"""Which pictures documents name, and what becomes of those that they hold."""

import pytest

from judgments.jobs.services import work_jobs
from judgments.models import Document, DocumentPicture, Job, Picture, PictureContent
from judgments.pictures.encoding import encode
from judgments.pictures.queries import list_pictures, suggest_fields
from judgments.pictures.services import PicturesRefused
from tests.builders import make_access, make_collection
from tests.judgments.pictures.drawing import choose, data_uri, drawn, load, states

pytestmark = pytest.mark.django_db


@pytest.fixture
def books():
    return make_collection()


def shown(collection, docid):
    """(source, size) of each picture of a document that is shown."""
    document = Document.objects.get(collection=collection, docid=docid)
    pictures = list_pictures(collection=collection, documents=[document.pk])
    return [(one.name is not None, one.size, one.note) for one in pictures.get(document.pk, [])]


def test_a_picture_in_a_document_is_stored_and_the_document_names_it(books):
    load(books, {"d1": {"title": "A", "photo": data_uri(drawn(2000, 1000))}})
    document = Document.objects.get(docid="d1")
    assert document.fields["photo"].startswith("picture:")
    choose(books, photo="small")
    assert shown(books, "d1") == [(True, "small", "")]
    picture = Picture.objects.get()
    assert (picture.state, picture.width, picture.height) == ("stored", 960, 480)
    assert bytes(picture.content.data) == encode(drawn(2000, 1000)).data
    assert picture.bytes == len(picture.content.data)


def test_the_same_document_again_changes_nothing(books):
    given = {"d1": {"photo": data_uri(drawn())}}
    load(books, given)
    choose(books, photo="small")
    before = Picture.objects.values().get(), Document.objects.values().get()
    load(books, given)
    work_jobs()
    assert (Picture.objects.values().get(), Document.objects.values().get()) == before


def test_documents_that_came_before_the_fields_were_chosen_keep_their_hash(books):
    load(books, {"d1": {"photo": "a.png"}})
    # as they were stored before pictures were taken out
    uri = data_uri(drawn())
    Document.objects.update(fields={"photo": uri}, content_hash="x" * 64)
    choose(books, photo="large")
    assert shown(books, "d1") == [(True, "large", "")]
    assert Document.objects.values_list("fields", "content_hash").get() == (
        {"photo": uri},
        "x" * 64,
    )


def test_pictures_come_in_the_order_of_the_chosen_fields_and_of_their_values(books):
    first, second, third = (data_uri(drawn(colour=colour)) for colour in (1, 2, 3))
    load(books, {"d1": {"thumb": first, "photos": [second, third, "x.png"]}})
    choose(books, photos="medium", thumb="small")
    assert shown(books, "d1") == [
        (True, "medium", ""),
        (True, "medium", ""),
        (False, "medium", "Not uploaded."),
        (True, "small", ""),
    ]
    choose(books, thumb="large")
    assert shown(books, "d1") == [(True, "large", "")]
    choose(books)
    assert shown(books, "d1") == []


def test_another_document_text_names_other_pictures(books):
    choose(books, photo="small")
    load(books, {"d1": {"photo": "a.png"}, "d2": {"photo": "a.png"}})
    load(books, {"d1": {"photo": ["b.png", "c.png"]}})
    named = DocumentPicture.objects.order_by("document", "position")
    assert list(named.values_list("document__docid", "picture__source")) == [
        ("d1", "b.png"),
        ("d1", "c.png"),
        ("d2", "a.png"),
    ]


def test_pictures_that_nobody_names_any_more_are_deleted_unless_they_cannot_be_had_again(books):
    load(books, {"d1": {"photo": data_uri(drawn()), "file": "a.png"}})
    choose(books, photo="small", file="small")
    assert sorted(state for state, _ in states(books).values()) == ["missing", "stored"]
    choose(books, file="small")
    choose(books)
    assert [state for state, _ in states(books).values()] == ["stored"]
    choose(books, photo="small")
    assert shown(books, "d1") == [(True, "small", "")]


def test_a_picture_that_does_not_fit_into_the_store_is_refused_and_taken_later(books, settings):
    given = {"d1": {"photo": data_uri(drawn())}}
    settings.PICTURE_STORE = 10
    load(books, given)
    choose(books, photo="small")
    assert list(states(books).values()) == [("refused", "store_full")]
    assert not PictureContent.objects.exists()
    assert shown(books, "d1") == [(False, "small", "The picture store is full.")]
    settings.PICTURE_STORE = 100_000
    load(books, given)
    work_jobs()
    assert list(states(books).values()) == [("stored", "")]


def test_data_that_is_no_picture_is_refused(books):
    load(books, {"d1": {"photo": data_uri(b"<svg/>")}})
    choose(books, photo="small")
    assert list(states(books).values()) == [("refused", "not_a_picture")]
    assert not PictureContent.objects.exists()


def test_a_long_value_is_refused(books):
    load(books, {"d1": {"photo": "https://a.example/" + "x" * 3000}})
    choose(books, photo="small")
    assert list(states(books).values()) == [("refused", "too_long")]


def test_loading_without_pictures_queues_nothing(books):
    load(books, {"d1": {"photo": "https://a.example/1.png"}})
    assert not Job.objects.exists()
    assert not Picture.objects.exists()


def test_fields_that_may_name_pictures_are_suggested(books):
    load(
        books,
        {
            "d1": {"thumb": "https://a.example/1", "image": "1.png", "brand": "a"},
            "d2": {"image": "2.png", "html": "<p>"},
        },
    )
    assert suggest_fields(access=make_access(collection=books)) == ["image", "thumb"]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"photo": "huge"}, "size_invalid"),
        ({" ": "small"}, "field_invalid"),
        ({"x" * 201: "small"}, "field_invalid"),
        ({"html": "small"}, "field_invalid"),
        ({f"f{number}": "small" for number in range(11)}, "too_many_fields"),
    ],
)
def test_fields_that_cannot_be_chosen(books, fields, code):
    with pytest.raises(PicturesRefused) as refused:
        choose(books, **fields)
    assert refused.value.code == code
