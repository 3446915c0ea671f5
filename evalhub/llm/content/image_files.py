"""Reading of image files from outside: checked, decoded, and written again without metadata. Pure.

Whatever is not a still picture of a known kind and size is refused: what browsers and providers are
given was written here.
"""

import base64
import binascii
import re
from io import BytesIO
from typing import NamedTuple

from PIL import Image, ImageOps

MEDIA_TYPES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "WEBP": "image/webp",
    "GIF": "image/gif",
}
KINDS = "PNG, JPEG, WebP or GIF"
MB = 1_000_000
KEPT = ("transparency",)
"""What a file says beside its pixels that is part of how it looks."""

DATA_URL = re.compile(r"data:([\w.+/-]*)(?:;[\w=-]+)*?;base64,")


class ImageRefused(ValueError):
    """An image that is not taken; the message is for people."""


class ImageFile(NamedTuple):
    content: bytes
    media_type: str
    width: int
    height: int


def bytes_of_url(url: str) -> bytes:
    """Return the bytes in a data: URL.

    Raises:
        ImageRefused: It is another address, which is never fetched, or not in base64.
    """
    shown = repr(url[:60] + ("…" if len(url) > 60 else ""))
    head = DATA_URL.match(url)
    if head is None:
        raise ImageRefused(
            f"{shown} is not a data: URL in base64. Images at other addresses are not fetched: "
            "send data:image/png;base64,… with the image itself."
        )
    if head[1] not in MEDIA_TYPES.values():
        raise ImageRefused(f"{shown} has the type {head[1] or 'none'!r}: send {KINDS}.")
    try:
        return base64.b64decode(url[head.end() :], validate=True)
    except binascii.Error as error:
        raise ImageRefused(f"{shown} is not valid base64: {error}.") from error


def data_url(media_type: str, content: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


def clean_image(data: bytes, *, max_bytes: int, max_pixels: int) -> ImageFile:
    """Return an image as it is stored: upright, and with nothing but its pixels.

    Equal bytes give equal bytes.

    Raises:
        ImageRefused: It is too large, animated, or no image of a known kind.
    """
    if len(data) > max_bytes:
        raise ImageRefused(
            f"The image has {len(data) / MB:.1f} MB; the maximum is {max_bytes / MB:g} MB: "
            "make it smaller."
        )
    try:
        with Image.open(BytesIO(data), formats=tuple(MEDIA_TYPES)) as image:
            _check(image, max_pixels)
            return _written(image)
    except ImageRefused:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_many_pixels("far more pixels than its size suggests", max_pixels) from error
    except Exception as error:  # decoders fail in any way on bytes made to break them
        beginning = repr(data[:12])[1:]
        raise ImageRefused(
            f"The file that begins with {beginning} is not a {KINDS} image, or is damaged."
        ) from error


def _check(image: Image.Image, max_pixels: int) -> None:
    if image.width * image.height > max_pixels:
        raise _too_many_pixels(f"{image.width} × {image.height} pixels", max_pixels)
    if getattr(image, "is_animated", False):
        raise ImageRefused("The image is animated: models see one picture, so send that.")


def _too_many_pixels(size: str, max_pixels: int) -> ImageRefused:
    most = f"the maximum is {max_pixels / 1_000_000:g} million"
    return ImageRefused(f"The image has {size}; {most}: make it smaller.")


def _written(image: Image.Image) -> ImageFile:
    form = str(image.format)
    ImageOps.exif_transpose(image, in_place=True)
    image.load()
    options: dict[str, object] = {}
    if form == "JPEG":
        options = {"quality": "keep"}
        if image.mode not in ("L", "RGB"):
            image, options = image.convert("RGB"), {"quality": 95}
    elif form == "WEBP":
        options = {"quality": 95}
    image.info = {name: image.info[name] for name in KEPT if name in image.info}
    written = BytesIO()
    image.save(written, form, **options)
    return ImageFile(written.getvalue(), MEDIA_TYPES[form], image.width, image.height)
