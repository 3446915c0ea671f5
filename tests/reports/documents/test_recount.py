"""`manage.py recount` on figures that are cached."""

import io
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command
from django.http import QueryDict

from reports.documents.reading import Reading
from reports.registry import page_of
from reports.releases import query
from tests.factories import make_user
from tests.reports.workspaces import make_workspace

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_nothing_kept")]


def recount(**options):
    out = io.StringIO()
    call_command("recount", stdout=out, **options)
    return out.getvalue()


def test_a_wrong_cached_figure_is_named_and_corrected(monkeypatch):
    make_workspace()
    recount()
    page, right = page_of("releases"), query.pair_changes

    def wrong(pairs):
        return [replace(one, whole=replace(one.whole, net=0.5)) for one in right(pairs)]

    with monkeypatch.context() as patched:
        patched.setattr(query, "pair_changes", wrong)
        page.build(page.form(QueryDict()).filters, Reading(make_user("viewer")))

    for options, said in (({"check": True}, "Run without --check"), ({}, "Corrected")):
        with pytest.raises(CommandError, match=f"^1 cached figure differed. {said}"):
            recount(**options)
    assert "Every tally and every cached figure equals its recount." in recount(check=True)
