"""The part of a page that is kept for the next reader."""

from typing import TYPE_CHECKING

from django import template
from django.template.base import Parser, Token
from django.template.context import Context

if TYPE_CHECKING:  # tags are loaded before the admin, which it imports
    from reports.documents.kept_page import KeptPage

register = template.Library()


class KeptNode(template.Node):
    """Renders its content, or shows what is kept of it."""

    def __init__(self, nodelist: template.NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: Context) -> str:
        page: KeptPage | None = context.get("kept")
        if page is None:
            return self.nodelist.render(context)
        if page.html is None:
            with context.push(csrf_token=page.token):
                page.keep(self.nodelist.render(context))
        return page.shown_to(context["request"])


@register.tag
def kept(parser: Parser, token: Token) -> KeptNode:
    nodelist = parser.parse(("endkept",))
    parser.delete_first_token()
    return KeptNode(nodelist)
