"""Content of messages on pages: its text, and its images as small pictures."""

from typing import Any

from django import template
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

from evalhub.llm.content import content_parts

register = template.Library()
register.filter("content_text", content_parts.content_text)


@register.simple_tag
def thumbnails(content: Any) -> SafeString:
    """Show the images of a content, or of a list of parts."""
    images = [
        (reverse("api-image-detail", args=[part["image"]]), part.get("alt") or f"Image {n}")
        for n, part in enumerate(content_parts.image_parts(content), 1)
    ]
    if not images:
        return SafeString("")
    return render_to_string("issues/images.html", {"images": images})
