"""The rows of fieldsets are what the theme makes of them."""

import pytest
from django.test.html import parse_html

from evalhub.admin_site.form_rows import form_counts_of, lines_of
from tests.factories import make_issue, make_test
from tests.issues.pages import issue_form, log_in, url

pytestmark = pytest.mark.django_db


def test_the_numbers_of_forms_are_written_as_django_writes_them(client):
    log_in(client, "maintainer")
    issue = make_issue()
    page, data = url("issue_change", issue.pk), issue_form(issue, title="")
    for response in (client.get(page), client.post(page, data)):
        for inline in response.context["inline_admin_formsets"]:
            if hasattr(inline.formset, "management_form"):
                theirs = parse_html(str(inline.formset.management_form))
                assert parse_html(form_counts_of(inline.formset)) == theirs


@pytest.mark.parametrize("kind", ["issue", "test"])
def test_the_label_of_each_field_is_written_as_the_theme_writes_it(client, kind):
    log_in(client, "maintainer")
    row = {"issue": make_issue, "test": make_test}[kind]()
    form = client.get(url(f"{kind}_change", row.pk)).context["adminform"]

    for fieldset in form:
        written = parse_html(lines_of(fieldset, {}))
        for label in (field.label_tag() for line in fieldset for field in line):
            assert written.count(parse_html(label)) == 1
