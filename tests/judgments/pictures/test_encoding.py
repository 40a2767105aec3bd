"""Pictures of strangers: re-encoded, or refused before they cost anything."""

import io
import struct
import zlib
from typing import Final

import pytest
from PIL import Image, ImageCms

from judgments.pictures.encoding import PictureRefusedError, encode
from judgments.pictures.rules import MOST_BYTES
from tests.judgments.pictures.drawing import drawn

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few kilobytes that says that it has so many pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">L", zlib.crc32(kind + data))
        return struct.pack(">L", len(data)) + kind + data + check

    head = struct.pack(">LLBBBBB", width, height, 8, 6, 0, 0, 0)
    rows = zlib.compress(b"\0" * 1_000_000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def many_scans() -> bytes:
    """A progressive JPEG with a thousand scans more than it needs."""
    data = drawn(400, 400, form="JPEG", progressive=True)
    end = data.rindex(b"\xff\xda")
    return data[:end] + data[end:-2] * 1_000 + data[-2:]


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "AVIF"])
@pytest.mark.parametrize(
    ("size", "expected"),
    [((40, 30), (40, 30)), ((3000, 1500), (960, 480)), ((100, 2000), (48, 960))],
)
def test_a_picture_becomes_webp_of_at_most_960_pixels(form, size, expected):
    encoded = encode(drawn(*size, form=form))
    with Image.open(io.BytesIO(encoded.data)) as image:
        assert image.format == "WEBP"
        assert image.size == (encoded.width, encoded.height) == expected


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16"])
def test_every_kind_of_png_is_read(mode):
    encoded = encode(drawn(mode=mode))
    with Image.open(io.BytesIO(encoded.data)) as image:
        assert image.mode == ("RGBA" if mode in ("LA", "RGBA") else "RGB")


def test_metadata_stay_behind_and_the_picture_stands_upright():
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "Secret camera"  # turned by a quarter
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    given = drawn(40, 30, form="JPEG", exif=exif, icc_profile=profile, comment=b"Secret place")
    encoded = encode(given)
    assert (encoded.width, encoded.height) == (30, 40)
    assert b"Secret" in given
    assert b"Secret" not in encoded.data
    with Image.open(io.BytesIO(encoded.data)) as image:
        assert not image.getexif()
        assert "icc_profile" not in image.info


BAD: Final = {
    "svg": (SVG, "not_a_picture"),
    "html": (b"<!doctype html><script>alert(1)</script>", "not_a_picture"),
    "empty": (b"", "not_a_picture"),
    "tiff": (drawn(form="TIFF"), "not_a_picture"),
    "bmp": (drawn(form="BMP"), "not_a_picture"),
    "ico": (drawn(form="ICO"), "not_a_picture"),
    "pdf": (drawn(form="PDF"), "not_a_picture"),
    "svg behind a signature": (b"\x89PNG\r\n\x1a\n" + SVG, "not_a_picture"),
    "half a jpeg": (drawn(900, 900, form="JPEG")[:2000], "broken"),
    "half a png": (drawn(900, 900)[:1000], "broken"),
    "half a webp": (drawn(900, 900, form="WEBP")[:100], "broken"),
    "a bomb": (bomb(5001, 5000), "too_many_pixels"),
    "a large bomb": (bomb(60_000, 60_000), "too_many_pixels"),
    "a long bomb": (bomb(1, 2**31 - 1), "too_many_pixels"),
    "fewer pixels than said": (bomb(5000, 4000), "broken"),
    "a thousand scans": (many_scans(), "broken"),
    "too large": (b"\xff\xd8\xff" + b"\0" * (MOST_BYTES + 1), "too_large"),
}


@pytest.mark.parametrize(("data", "reason"), BAD.values(), ids=BAD)
def test_what_is_no_picture_or_would_cost_too_much_is_refused(data, reason):
    with pytest.raises(PictureRefusedError) as refused:
        encode(data)
    assert refused.value.reason == reason
