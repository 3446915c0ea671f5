"""Pictures for tests, written by Pillow."""

import base64
from io import BytesIO
from typing import Any

from PIL import Image


def picture(
    form: str = "PNG", size: tuple[int, int] = (4, 3), color: str = "red", **options: Any
) -> bytes:
    """The bytes of a picture of one colour."""
    written = BytesIO()
    Image.new("RGB", size, color).save(written, form, **options)
    return written.getvalue()


def url_of(data: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def asked_about(data: bytes, text: str = "What is shown?", alt: str = "a red square") -> Any:
    """A conversation about a picture, as it is sent to the API."""
    part = {"type": "image_url", "image_url": {"url": url_of(data)}, "alt": alt}
    return [{"role": "user", "content": [{"type": "text", "text": text}, part]}]
