"""Classes of forms that are made once."""

import pytest
from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.test import RequestFactory

from issues.admin.inlines import CommentInline
from issues.admin.issue.inlines import SourceInline
from issues.models import Issue
from issues.models import Test as Sample
from tests.factories import make_issue, make_test, make_user

pytestmark = pytest.mark.django_db


def test_forms_are_made_once_for_all_with_the_same_rights():
    def kind(inline, role):
        request = RequestFactory().get("/")
        request.user = make_user(role)
        return inline(Issue, admin.site).get_formset(request, issue)

    issue = make_issue()
    for inline in (CommentInline, SourceInline):
        first = kind(inline, "annotator")
        assert first is kind(inline, "annotator")
        assert first is not kind(inline, "viewer")
        assert first.form._meta.formfield_callback.keywords["request"] is None


@pytest.mark.parametrize("model", [Issue, Sample])
def test_the_form_of_a_page_is_made_once_for_all_who_see_the_same(model):
    page = admin.site.get_model_admin(model)
    row = {Issue: make_issue, Sample: make_test}[model]()

    def form(user, method="get"):
        request = getattr(RequestFactory(), method)("/")
        request.user = user
        request.resolver_match = None
        seen = page.get_queryset(request).get(pk=row.pk)
        fields = flatten_fieldsets(page.get_fieldsets(request, seen))
        return page.get_form(request, seen, change=True, fields=fields)

    annotator, maintainer = make_user("annotator"), make_user("maintainer")
    first = form(annotator)
    assert first is form(make_user("annotator"))
    assert first is not form(annotator, "post")
    assert first._meta.formfield_callback is None
    for user in (annotator, maintainer):
        adds = form(user).base_fields["tags"].widget.can_add_related
        assert adds is user.has_perm("issues.add_tag")
    assert "tags" not in form(make_user("viewer")).base_fields
