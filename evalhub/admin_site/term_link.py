from django.urls import reverse
from django.utils.functional import lazy
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evalhub.glossary import BY_NAME


def term_link(name: str, label: str = "") -> SafeString:
    """Return a link to a glossary term, explained on hover; raise KeyError if there is none."""
    term = BY_NAME[name]
    return format_html(
        '<a class="eh-term" href="{}#{}" title="{}">{}</a>',
        reverse("admin:glossary"),
        term.anchor,
        term.explanation,
        label or name,
    )


def _with_terms(text: str, *names: str) -> SafeString:
    return format_html(text, *map(term_link, names))


with_terms = lazy(_with_terms, SafeString)
"""Fill each {} of a help text with a link to a term; lazy, so that class bodies can use it."""
