"""The tag `{% term "judge run" %}`, or `{% term "judge run" "Judge runs" %}` with a label."""

from django import template

from evalhub.admin_site.term_link import term_link

register = template.Library()
register.simple_tag(term_link, name="term")
