"""Pieces of HTML that displays of admins return."""

from collections.abc import Iterable

from django.template.loader import render_to_string
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from evalhub.display.formatting import DASH


def link(url: str, text: object, after: str = "") -> SafeString:
    return render_to_string("evalhub/link.html", {"url": url, "text": text, "after": after})


def text_block(text: str) -> SafeString | str:
    """Return a text with its line breaks; a dash for none."""
    return render_to_string("evalhub/text_block.html", {"text": text}) if text else DASH


def badge(style: str, label: str) -> SafeString:
    return format_html('<span class="eh-badge eh-badge--{}">{}</span>', style, label)


def tags(names: Iterable[str]) -> SafeString:
    return format_html_join(" ", '<span class="eh-tag">{}</span>', ((name,) for name in names))
