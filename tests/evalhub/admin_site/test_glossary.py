"""The glossary's page and the links to its terms."""

import pytest
from django.template import Context, Template
from django.urls import reverse
from django.utils.html import escape

from evalhub.access.roles import ROLES
from evalhub.admin_site.term_link import with_terms
from evalhub.glossary import BY_NAME, TERMS
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("role", ROLES)
def test_every_role_reads_every_term_at_its_anchor(client, role):
    client.force_login(make_user(role))
    html = client.get(reverse("admin:glossary")).content.decode()

    for term in TERMS:
        assert f'id="{term.anchor}"' in html
        assert escape(term.explanation) in html


def test_home_and_the_palette_lead_to_the_glossary(client):
    client.force_login(make_user("viewer"))
    address = reverse("admin:glossary")

    assert f'href="{address}"' in client.get(reverse("admin:index")).content.decode()
    assert address in client.get(reverse("admin:search"), {"s": "glossary"}).content.decode()


def test_a_term_on_a_page_links_to_its_line():
    html = Template('{% load glossary %}{% term "judge run" "Judge runs" %}').render(Context())

    assert f'href="{reverse("admin:glossary")}#{BY_NAME["judge run"].anchor}"' in html
    assert ">Judge runs</a>" in html


def test_an_unknown_term_is_an_error():
    with pytest.raises(KeyError):
        Template('{% load glossary %}{% term "no such term" %}').render(Context())


def test_a_help_text_links_its_terms():
    text = str(with_terms("Needs a {} & a {}.", "jury", "suite"))

    assert text.count('class="eh-term"') == 2
