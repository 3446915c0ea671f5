"""What higher floors add to the list of a model."""

from collections import defaultdict

import pytest
from django.contrib import admin

from evalhub.admin_site import contributions
from evalhub.admin_site.contributions import Contribution, ListColumn, contribute
from issues.models import Issue
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def column(name, after):
    return ListColumn(name, after, lambda request: name, lambda request, rows: {})


def test_added_columns_follow_each_other_and_need_their_right_as_filters_do(rf, monkeypatch):
    monkeypatch.setattr(contributions, "_contributions", defaultdict(list))
    contribute(Contribution(columns=(column("one", "title"), column("two", "one"))), Issue)
    launching = Contribution("runs.add_launch", columns=(column("of_launchers", "two"),))
    contribute(launching, Issue)
    contribute(Contribution("runs.add_launch", filters=("note_of_launchers",)), Issue)
    issues = admin.site.get_model_admin(Issue)

    def shown(role):
        request = rf.get("/")
        request.user = make_user(role)
        columns = [getattr(each, "__name__", each) for each in issues.get_list_display(request)]
        return columns[:4], "note_of_launchers" in issues.get_list_filter(request)

    assert shown("viewer") == (["title", "one", "two", "state_label"], False)
    assert shown("admin") == (["title", "one", "two", "of_launchers"], True)
