"""Picture files in archives."""

import io
import zipfile

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from judgments.jobs.services import work_jobs
from judgments.models import AuditEntry, Picture, PictureContent
from judgments.pictures.services import upload_files
from tests.builders import make_access, make_collection
from tests.judgments.pictures.drawing import choose, drawn, load, states

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]


@pytest.fixture
def books(settings, tmp_path):
    settings.STORAGES = settings.STORAGES | {
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path},
        }
    }
    collection = make_collection()
    load(
        collection,
        {"d1": {"image": "shoes/1.png"}, "d2": {"image": "2.png"}, "d3": {"image": "3.png"}},
    )
    choose(collection, image="small")
    return collection


def packed(method=zipfile.ZIP_DEFLATED, **files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def uploaded(books, data):
    access = make_access(collection=books)
    file = ContentFile(data, name="pictures.zip")
    job = upload_files(access=access, file=file, at=timezone.now())
    work_jobs()
    job.refresh_from_db()
    return job


def test_files_are_stored_by_their_whole_name_or_its_last_part(books):
    data = packed(**{"1.png": drawn(), "all/of/2.png": drawn(), "9.png": drawn(), "all/": b""})
    job = uploaded(books, data)
    assert job.state == "done", job.result
    assert {k: job.result[k] for k in ("stored", "refused", "not_named")} == {
        "stored": 2,
        "refused": 0,
        "not_named": 1,
    }
    assert states(books) == {
        "shoes/1.png": ("stored", ""),
        "2.png": ("stored", ""),
        "3.png": ("missing", ""),
    }
    assert AuditEntry.objects.filter(action="pictures.uploaded").count() == 1


def test_a_file_that_is_uploaded_again_has_another_address(books):
    uploaded(books, packed(**{"2.png": drawn(colour=1)}))
    before = Picture.objects.get(source="2.png")
    uploaded(books, packed(**{"2.png": drawn(50, 50)}))
    after = Picture.objects.get(source="2.png")
    assert after.public_id != before.public_id
    assert (before.width, after.width) == (40, 50)


def test_files_that_are_no_pictures_are_refused_and_the_others_stored(books):
    zeros = b"\0" * 300_000_000
    data = packed(**{"1.png": b"<svg/>", "2.png": zeros, "3.png": drawn()})
    assert len(data) < 1_000_000
    job = uploaded(books, data)
    assert (job.result["stored"], job.result["refused"]) == (1, 2)
    assert states(books)["2.png"] == ("refused", "too_large")
    assert states(books)["shoes/1.png"] == ("refused", "not_a_picture")
    assert PictureContent.objects.count() == 1


def test_a_damaged_file_within_is_refused(books):
    data = bytearray(packed(zipfile.ZIP_STORED, **{"2.png": drawn()}))
    data[60] ^= 0xFF
    assert uploaded(books, bytes(data)).result["refused"] == 1
    assert states(books)["2.png"] == ("refused", "broken")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "not a ZIP archive"),
        (drawn(), "not a ZIP archive"),
        (packed(**{"2.png": drawn()})[:-10], "not a ZIP archive"),
        (packed(**{"9.png": drawn()}), "No file’s name"),
        # the length of its listing
        (
            packed(a=b"")[:-10] + (2**31).to_bytes(4, "little") + b"\0" * 6,
            "more than 65,534 files",
        ),
    ],
    ids=["empty", "picture", "cut off", "other names", "long listing"],
)
def test_an_upload_that_is_no_archive_of_pictures_fails_with_the_reason(books, data, code):
    job = uploaded(books, data)
    assert job.state == "failed"
    assert code in job.result["message"]
