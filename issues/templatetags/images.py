"""Content of messages on pages: its text, and its images as small pictures."""

from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from evalhub.llm.content import content_parts

register = template.Library()
register.filter("content_text", content_parts.content_text)


@register.simple_tag
def thumbnails(content: Any) -> SafeString:
    """Show the images of a content, or of a list of parts; each leads to itself at full size."""
    parts = content_parts.image_parts(content)
    shown = (
        (reverse("api-image-detail", args=[part["image"]]), part.get("alt") or f"Image {n}")
        for n, part in enumerate(parts, 1)
    )
    pictures = format_html_join(
        "",
        '<a href="{0}" target="_blank" rel="noopener" title="Open {1} at full size">'
        '<img src="{0}" alt="{1}" loading="lazy"></a>',
        shown,
    )
    return format_html('<div class="eh-images">{}</div>', pictures) if parts else SafeString("")
