"""What a field's value says of its pictures."""

import base64

import pytest

from judgments.pictures.rules import Source, list_sources, looks_like_pictures, take_data

DATA = "data:image/png;base64," + base64.b64encode(b"bytes").decode()
HASH = "picture:277089d91c0bdf4f2e6862ba7e4a07605119431f5d13f726dd352b06f1b206a9"


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("https://a.example/1.png", ["https://a.example/1.png"]),
        (["b.jpg", " c.jpg ", "", 7, None], ["b.jpg", "c.jpg"]),
        (DATA, [HASH]),
        ("", []),
        (None, []),
        ({"url": "x"}, []),
        ([f"{number}.png" for number in range(20)], [f"{number}.png" for number in range(8)]),
    ],
)
def test_a_text_or_a_list_of_texts_names_pictures(value, names):
    assert [source.name for source in list_sources(value)] == names


def test_a_data_uri_is_known_by_the_hash_of_its_bytes_wherever_it_stands():
    fields, taken = take_data({"photo": DATA, "more": [DATA, "b.png", 3], "text": "data: no"})
    assert fields == {"photo": HASH, "more": [HASH, "b.png", 3], "text": "data: no"}
    assert taken == [Source(HASH, b"bytes")] * 2


def test_broken_base64_is_a_picture_that_nobody_can_read():
    (source,) = list_sources("data:image/png;base64,AAA")
    assert source.data == b""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("https://a.example/picture", True),
        ("shoes/17.JPG", True),
        ([DATA], True),
        (HASH, True),
        ("a red shoe", False),
        ("see a.png", False),
        (12, False),
    ],
)
def test_fields_that_may_name_pictures_are_told_from_texts(value, expected):
    assert looks_like_pictures(value) is expected
