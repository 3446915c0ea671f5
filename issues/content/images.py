"""Images of tests and feedback: taking them in, and who may see them."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q, QuerySet

from evalhub.llm.content.content_parts import IMAGE, IMAGE_URL, MAX_ALT
from evalhub.llm.content.image_files import ImageRefused, bytes_of_url
from evalhub.llm.content.images import store_image
from evalhub.models import Image, User
from evalhub.values.strict_json import excerpt
from issues.models import Feedback, ImageUse, Test


def readable_images(user: User) -> QuerySet[Image]:
    """Select the images of tests and feedback that this user may read, and the user's uploads."""
    seen = Q(uploader=user.pk)
    if user.has_perm("issues.view_test"):
        seen |= Q(test__in=Test.objects.readable_by(user))
    if user.has_perm("issues.view_feedback"):
        seen |= Q(feedback__in=Feedback.objects.readable_by(user))
    return Image.objects.filter(pk__in=ImageUse.objects.filter(seen).values("image"))


def upload(url: str, *, by: User) -> Image:
    """Store the image in a data: URL for this user.

    Raises:
        ImageRefused: It cannot be taken.
    """
    image = store_image(bytes_of_url(url))
    ImageUse.objects.get_or_create(image=image, uploader=by)
    return image


def with_stored_images(messages: Any) -> Any:
    """Return a conversation with its `image_url` parts, as OpenAI has them, stored and named.

    Anything else stays as it is, to be checked afterwards.

    Raises:
        ImageRefused: Names the message and part of an image that cannot be taken.
    """
    if not isinstance(messages, list):
        return messages
    return [_stored(number, message) for number, message in enumerate(messages, 1)]


def with_kept_images(turn: dict[str, Any], test: Test) -> dict[str, Any]:
    """Return a stored turn of an answer with its images kept, for whoever may read the test.

    One that cannot be kept stays as a part whose `alt` says why, or where it is.
    """
    if not turn.get("images"):
        return turn
    parts = [part if part.get("type") == IMAGE else _kept(part) for part in turn["images"]]
    kept = [part[IMAGE] for part in parts if part["type"] == IMAGE]
    ImageUse.objects.bulk_create(
        [ImageUse(image_id=digest, test=test) for digest in kept], ignore_conflicts=True
    )
    return {**turn, "images": parts}


def _kept(part: Mapping[str, Any]) -> dict[str, Any]:
    sent = part.get(IMAGE_URL)
    url = str(sent.get("url") if isinstance(sent, Mapping) else sent)
    try:
        return {"type": IMAGE, "image": store_image(bytes_of_url(url)).digest}
    except ImageRefused as error:
        address = url if url.startswith("http") else str(error)
        return {"type": IMAGE_URL, "alt": address[:MAX_ALT]}


def _stored(number: int, message: Any) -> Any:
    content = message.get("content") if isinstance(message, Mapping) else None
    if not isinstance(content, list):
        return message
    parts = []
    for place, part in enumerate(content, 1):
        try:
            is_url = isinstance(part, Mapping) and part.get("type") == IMAGE_URL
            parts.append(_taken(part) if is_url else part)
        except ImageRefused as error:
            raise ImageRefused(f"Message {number}: part {place}: {error}") from error
    return {**message, "content": parts}


def _taken(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a stored image; `detail` is each provider's own, and not kept."""
    sent = part.get(IMAGE_URL)
    url = sent.get("url") if isinstance(sent, Mapping) else sent
    if not isinstance(url, str):
        raise ImageRefused(f'expected image_url as {{"url": "data:…"}}, not {excerpt(sent)}.')
    if unknown := [name for name in part if name not in ("type", IMAGE_URL, "alt")]:
        raise ImageRefused(f"unknown key {excerpt(unknown[0])} of a part of type image_url.")
    alt = {"alt": part["alt"]} if part.get("alt") else {}
    return {"type": IMAGE, "image": store_image(bytes_of_url(url)).digest, **alt}
