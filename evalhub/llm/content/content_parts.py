"""Content of a message: a text, or a list of parts that are texts and images. Pure.

A text part is {"type": "text", "text": …}. An image part is {"type": "image", "image": <SHA-256 of
the stored image>, "alt": …}, where alt is its description for people and judges who cannot see it.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evalhub.limits import MAX_IMAGES
from evalhub.values.strict_json import excerpt

Part = dict[str, Any]
TEXT, IMAGE, IMAGE_URL = "text", "image", "image_url"
KEYS = {TEXT: {"type", "text"}, IMAGE: {"type", "image", "alt"}}
MAX_ALT = 500

DIGEST = re.compile(r"[0-9a-f]{64}")


def content_text(content: Any) -> str:
    """Return the text of a content, an image as “[image <alt>]”; "" for a turn to generate."""
    if not isinstance(content, list):
        return "" if content is None else str(content)
    return "\n".join(filter(None, map(_part_text, content)))


def _part_text(part: Any) -> str:
    if not isinstance(part, Mapping):
        return str(part)
    if part.get("type") in (IMAGE, IMAGE_URL):
        return f"[image {part.get('alt', '')}".rstrip() + "]"
    return str(part.get("text", f"({part.get('type', 'unknown')}, not shown)"))


def image_parts(content: Any) -> list[Part]:
    """Return the image parts of a content, in order."""
    parts = content if isinstance(content, list) else []
    return [part for part in parts if isinstance(part, dict) and part.get("type") == IMAGE]


def images_in(messages: Any) -> list[str]:
    """Return the digests of a conversation's images, each once."""
    return list(_images(messages))


def all_images(messages: Any) -> list[Part]:
    """Return a conversation's image parts, each image once."""
    return list(_images(messages).values())


def _images(messages: Any) -> dict[str, Part]:
    """Return the first part of each image by digest; a conversation of any other form has none."""
    found: dict[str, Part] = {}
    for turn in messages if isinstance(messages, Sequence) else ():
        for part in image_parts(turn.get("content") if isinstance(turn, Mapping) else None):
            found.setdefault(str(part.get("image")), part)
    return found


def content_problem(role: str, content: Any) -> str:
    """Return why a content cannot be a message's of this role; "" if it can.

    Text must not be empty; images are for users' messages only, as providers take them.
    """
    if isinstance(content, str):
        return "" if content.strip() else f"a {role} message needs some text."
    if not isinstance(content, list) or not content:
        return f"a {role} message needs some text, or a list of parts, not {excerpt(content)}."
    problems = (_part_problem(role, number, part) for number, part in enumerate(content, 1))
    if problem := next(filter(None, problems), ""):
        return problem
    if (n := len(image_parts(content))) > MAX_IMAGES:
        return f"it has {n} images; the maximum is {MAX_IMAGES}."
    return "" if content_text(content).strip() else f"a {role} message needs some text."


def _part_problem(role: str, number: int, part: Any) -> str:
    kind = part.get("type") if isinstance(part, Mapping) else None
    if not isinstance(kind, str) or kind not in KEYS:
        return f"part {number}: expected a part of type text or image, not {excerpt(part)}."
    if unknown := [name for name in part if name not in KEYS[kind]]:
        return f"part {number}: unknown key {excerpt(unknown[0])} of a part of type {kind}."
    if kind == TEXT:
        text = part.get("text")
        return "" if isinstance(text, str) else f"part {number}: {excerpt(text)} is not a text."
    if role != "user":
        return f"part {number}: only user messages may have images, not {role} messages."
    digest, alt = part.get("image"), part.get("alt", "")
    if not isinstance(digest, str) or not DIGEST.fullmatch(digest):
        return (
            f"part {number}: image must be the digest of a stored image, not {excerpt(digest)}. "
            "Upload it, or send it as image_url with a data: URL."
        )
    if not isinstance(alt, str) or len(alt) > MAX_ALT:
        return f"part {number}: alt must be a text of at most {MAX_ALT} characters."
    return ""


def with_text_before(text: str, content: Any) -> Any:
    """Return a content with a text put before it, in a paragraph or part of its own."""
    if isinstance(content, list):
        return [{"type": TEXT, "text": text}, *content]
    return f"{text}\n\n{content}"


def with_text_after(content: Any, text: str) -> Any:
    """Return a content with a text put after it, in a paragraph or part of its own."""
    if isinstance(content, list):
        return [*content, {"type": TEXT, "text": text}]
    return f"{content}\n\n{text}"


def without_alt(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the conversation without what no model is sent: the descriptions of its images."""
    return [_changed(message, lambda part: {**part, "alt": ""}) for message in messages]


def shown_with(text: str, images: Sequence[Part]) -> Any:
    """Return the content of a message that shows images after its text; without any just that."""
    return [{"type": TEXT, "text": text}, *images] if images else text


def with_data_urls(
    messages: Sequence[Mapping[str, Any]], urls: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the conversation with its images as OpenAI's chat format has them.

    Args:
        urls: The data: URL of each image by digest; a part without one stays as it is.
    """

    def as_url(part: Mapping[str, Any]) -> Part:
        url = urls.get(part["image"])
        return {"type": IMAGE_URL, "image_url": {"url": url}} if url else dict(part)

    return [_changed(message, as_url) for message in messages]


def _changed(message: Mapping[str, Any], change: Any) -> dict[str, Any]:
    content = message.get("content")
    if not image_parts(content):
        return dict(message)
    parts = [change(part) if part.get("type") == IMAGE else part for part in content or ()]
    return {**message, "content": parts}


Message = dict[str, Any]


def with_system_prompt(messages: list[Message], system_prompt: str) -> list[Message]:
    """Return the conversation with a system prompt before its own.

    Many models accept only one system message, so the two are joined.
    """
    if not system_prompt or not messages:
        return messages
    if messages[0].get("role") != "system":
        return [{"role": "system", "content": system_prompt}, *messages]
    joined = with_text_before(system_prompt, messages[0]["content"])
    return [{**messages[0], "content": joined}, *messages[1:]]
