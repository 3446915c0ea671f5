from django import template
from django.forms.utils import flatatt

from evalhub.display import formatting

register = template.Library()

for write in (
    formatting.percent,
    formatting.between,
    formatting.clip,
    formatting.score,
    formatting.count,
    formatting.span,
    formatting.usd,
    formatting.seconds,
    formatting.words,
    flatatt,
):
    register.filter(write.__name__, write)
