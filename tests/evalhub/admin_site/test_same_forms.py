"""Classes of forms that are made once."""

import pytest
from django.contrib import admin
from django.test import RequestFactory

from issues.admin.inlines import CommentInline
from issues.admin.issue.inlines import SourceInline
from issues.models import Issue
from tests.factories import make_issue, make_user

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
