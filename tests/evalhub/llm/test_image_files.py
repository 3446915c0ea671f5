"""Image files from outside: what is taken, and what is refused."""

import zlib
from io import BytesIO

import pytest
from PIL import Image

from evalhub.llm.content.image_files import MB, ImageRefused, bytes_of_url, clean_image
from tests.images import picture, url_of


def cleaned(data, max_bytes=MB, max_pixels=10_000):
    return clean_image(data, max_bytes=max_bytes, max_pixels=max_pixels)


def animation():
    frames = [Image.new("RGB", (4, 4), color) for color in ("red", "blue")]
    written = BytesIO()
    frames[0].save(written, "GIF", save_all=True, append_images=frames[1:])
    return written.getvalue()


def bomb():
    """A small file that says it has 900 million pixels."""
    data = picture()
    head = b"IHDR" + (30_000).to_bytes(4, "big") * 2 + data[24:29]
    return data[:12] + head + zlib.crc32(head).to_bytes(4, "big") + data[33:]


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF"])
def test_each_kind_is_read_and_written_again_the_same_each_time(form):
    file = cleaned(picture(form))
    assert (file.media_type, file.width, file.height) == (f"image/{form.lower()}", 4, 3)
    assert Image.open(BytesIO(file.content)).size == (4, 3)
    assert cleaned(picture(form)) == file


def test_metadata_is_left_out_and_a_photo_stands_upright():
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "SecretCamera"  # turned by 90°, and its maker
    data = picture("JPEG", exif=exif, comment=b"secret words")
    assert b"SecretCamera" in data
    file = cleaned(data)
    assert (file.width, file.height) == (3, 4)
    assert b"SecretCamera" not in file.content
    assert b"secret words" not in file.content


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", 'begins with "<svg xmlns=\'" is not a PNG'),
        (b"", "is not a PNG, JPEG, WebP or GIF image"),
        (picture("JPEG", (64, 64))[:-100], "or is damaged"),
        (picture("BMP"), "begins with 'BM"),
        (picture(size=(101, 100)), "has 101 × 100 pixels; the maximum is 0.01 million"),
        (bomb(), "has far more pixels than its size suggests"),
        (animation(), "is animated"),
        (b"x" * (MB + 100_000), "has 1.1 MB; the maximum is 1 MB"),
    ],
)
def test_anything_else_is_refused_with_what_it_is(data, problem):
    with pytest.raises(ImageRefused, match=problem):
        cleaned(data)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("https://example.org/cat.png", "'https://example.org/cat.png' is not a data: URL"),
        ("file:///etc/passwd", "are not fetched"),
        ("data:image/svg+xml;base64,AAAA", "has the type 'image/svg\\+xml': send PNG"),
        ("data:image/png;base64,!!!", "is not valid base64"),
        ("data:image/png,AAAA", "is not a data: URL in base64"),
    ],
)
def test_only_data_urls_are_taken(url, problem):
    with pytest.raises(ImageRefused, match=problem):
        bytes_of_url(url)
    assert bytes_of_url(url_of(b"abc")) == b"abc"
