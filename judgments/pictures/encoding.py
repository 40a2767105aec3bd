"""Pictures of strangers made into ones that a browser may be given."""

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from judgments.pictures.rules import LARGEST_SIDE, MOST_BYTES

if TYPE_CHECKING:
    from PIL import Image

MEDIA_TYPE: Final = "image/webp"
FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "AVIF")
MOST_PIXELS: Final = 25_000_000
# Each scan of a progressive JPEG goes over the whole picture and takes a few bytes; real ones have
# about ten. The bytes of the marker come nowhere else in the picture itself.
START_OF_SCAN: Final = b"\xff\xda"
MOST_SCANS: Final = 100
QUALITY: Final = 82


class PictureRefusedError(Exception):
    """Bytes that can't be stored as a picture. reason: a key of `queries.REASONS`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Encoded:
    """A picture to be stored. data: WebP without metadata, at most 960 pixels wide and high."""

    data: bytes
    width: int
    height: int


def encode(data: bytes) -> Encoded:
    """The picture, or the first of a moving one, re-encoded. Raises PictureRefusedError."""
    # Pillow takes 0.2 s and some memory, which most processes never need
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415

    if len(data) > MOST_BYTES:
        raise PictureRefusedError("too_large")
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            # only the header has been read: nothing is unpacked before its size is known
            if image.width * image.height > MOST_PIXELS:
                raise PictureRefusedError("too_many_pixels")
            if image.format == "JPEG" and data.count(START_OF_SCAN) > MOST_SCANS:
                raise PictureRefusedError("broken")
            return _encode(image)
    except UnidentifiedImageError as error:
        raise PictureRefusedError("not_a_picture") from error
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise PictureRefusedError("too_many_pixels") from error
    except PictureRefusedError:
        raise
    except Exception as error:  # decoders raise whatever they meet in a damaged file
        raise PictureRefusedError("broken") from error


def _encode(image: "Image.Image") -> Encoded:
    from PIL import Image, ImageOps  # noqa: PLC0415

    image.draft("RGB", (LARGEST_SIDE, LARGEST_SIDE))  # a JPEG is decoded at about this size
    mode = "RGBA" if image.has_transparency_data else "RGB"
    # made small first where that needs no other mode: each copy of the whole has a price
    shown = image if image.mode in ("L", "RGB", "RGBA") else image.convert(mode)
    shown.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
    upright = ImageOps.exif_transpose(shown).convert(mode)
    # the pixels alone: profiles, comments and places stay behind
    bare = Image.frombytes(mode, upright.size, upright.tobytes())
    out = io.BytesIO()
    bare.save(out, "WEBP", quality=QUALITY)
    return Encoded(out.getvalue(), *bare.size)
