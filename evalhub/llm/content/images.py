"""Images of messages, stored once by their content."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models

from evalhub.llm.content.content_parts import images_in
from evalhub.llm.content.image_files import MB, clean_image, data_url
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError, CallErrorKind
from evalhub.model_parts import known


class MediaType(models.TextChoices):
    PNG = "image/png"
    JPEG = "image/jpeg"
    WEBP = "image/webp"
    GIF = "image/gif"


class Image(models.Model):
    """An image as it is shown and sent. Messages name it by its digest, the SHA-256 of `content`.

    Who may see it depends on the rows that refer to it (`issues.content.images`).
    """

    digest = models.CharField(max_length=64, primary_key=True)
    media_type = models.CharField(max_length=10, choices=MediaType)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    content = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [known("evalhub_image_media_type_known", "media_type", MediaType)]

    def __str__(self) -> str:
        return f"image {self.digest[:12]} ({self.width} × {self.height})"


def store_image(data: bytes) -> Image:
    """Store an image, once, and return it.

    Raises:
        ImageRefused: It is too large, animated, or no image of a known kind.
    """
    limits = settings.EVALHUB_IMAGE_MB, settings.EVALHUB_IMAGE_MEGAPIXELS
    file = clean_image(data, max_bytes=limits[0] * MB, max_pixels=limits[1] * 1_000_000)
    digest = hashlib.sha256(file.content).hexdigest()
    image, _ = Image.objects.get_or_create(digest=digest, defaults=file._asdict())
    return image


def check_images(messages: Any) -> None:
    """Raise a ValidationError on `messages` if they refer to images that are not stored."""
    if not (digests := images_in(messages)):
        return
    stored = set(Image.objects.filter(pk__in=digests).values_list("pk", flat=True))
    if unknown := [digest for digest in digests if digest not in stored]:
        problems = [f"No image {name[:64]!r} is stored: upload it first." for name in unknown]
        raise ValidationError({"messages": problems})


def data_urls(digests: Collection[str]) -> dict[str, str]:
    """Return the data: URL of each image that is stored, by digest."""
    found = Image.objects.filter(pk__in=digests)
    return {image.digest: data_url(image.media_type, bytes(image.content)) for image in found}


def refuse_unseen(endpoint: Endpoint, messages: Sequence[Mapping[str, Any]]) -> None:
    """Raise CallError if the conversation has images and the model takes none."""
    if not endpoint.takes_images and images_in(messages):
        raise CallError(
            CallErrorKind.IMAGES_NOT_TAKEN,
            f"{endpoint.name} takes no images, and the conversation has some: nothing was sent. "
            "Choose a model that takes images, or switch on “takes images” in its settings.",
        )


def missing(digests: Collection[str]) -> CallError:
    names = ", ".join(digest[:12] for digest in digests)
    return CallError(
        CallErrorKind.BAD_REQUEST,
        f"The images {names} of the conversation are not stored here: nothing was sent. Upload "
        "them to the test again.",
    )
