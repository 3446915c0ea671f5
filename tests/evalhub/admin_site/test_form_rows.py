"""The rows of fieldsets are what the theme makes of them."""

import pytest
from django.test.html import parse_html

from evalhub.admin_site.form_rows import lines_of
from tests.factories import make_issue, make_test
from tests.issues.pages import log_in, url

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", ["issue", "test"])
def test_the_label_of_each_field_is_written_as_the_theme_writes_it(client, kind):
    log_in(client, "maintainer")
    row = {"issue": make_issue, "test": make_test}[kind]()
    form = client.get(url(f"{kind}_change", row.pk)).context["adminform"]

    for fieldset in form:
        written = parse_html(lines_of(fieldset, {}))
        for label in (field.label_tag() for line in fieldset for field in line):
            assert written.count(parse_html(label)) == 1
