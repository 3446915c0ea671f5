"""The wording of figures and codes as template filters."""

from django import template

from evalhub import wording

register = template.Library()

for write in (
    wording.percent,
    wording.between,
    wording.score,
    wording.count,
    wording.span,
    wording.usd,
    wording.seconds,
    wording.words,
):
    register.filter(write.__name__, write)
