"""Names that people choose are text on every report page, in its figures and in its files."""

import csv
import io
import json
import re
from html import unescape

import pytest
from django.db.models import Value
from django.db.models.functions import Concat
from django.test import Client
from django.urls import reverse

from evalhub.models import LanguageModel
from issues.models import Issue, Tag
from reports.documents.reading import Reading
from reports.registry import page_of
from runs.models import JudgeRun, Run, Suite, TagSet
from tests.factories import make_user
from tests.reports.documents.test_pages import as_query
from tests.reports.workspaces import VIEWS, make_workspace, state_for

pytestmark = pytest.mark.django_db

HOSTILE = '=1 [a](javascript:x)<a href="javascript:x">b</a></script><img src=x onerror=y>'
MARKUP = re.compile(r'<img src=x|<a href="javascript')


def make_hostile_workspace():
    """The usual workspace, with the same text in all the names that people choose."""
    workspace = make_workspace()
    renamed = {Run: ("label", "model_name", "release"), Issue: ("title",)}
    for model, names in (renamed | dict.fromkeys((LanguageModel, Suite, Tag), ("name",))).items():
        model.objects.update(**{name: Concat(Value(HOSTILE), name) for name in names})
    for tags in TagSet.objects.all():
        TagSet.objects.filter(pk=tags.pk).update(names=[f"{HOSTILE}{name}" for name in tags.names])
    for judge_run in JudgeRun.objects.all():
        for judge in judge_run.jury["judges"]:
            judge["name"] = HOSTILE + judge["name"]
        JudgeRun.objects.filter(pk=judge_run.pk).update(jury=judge_run.jury, jury_name=HOSTILE)
    return workspace


UNDRAWN = {"legendgroup", "customdata"}


def drawn(text):
    """A figure's JSON without its own escapes and what is no part of the picture."""
    figure = json.loads(text, object_hook=lambda part: {k: part[k] for k in part.keys() - UNDRAWN})
    return json.dumps(figure).replace("\\", "")


@pytest.fixture
def browser():
    client = Client()
    client.force_login(make_user("superuser"))
    return client


def test_names_write_no_markup_and_no_formulas(browser, subtests):
    workspace, viewer = make_hostile_workspace(), make_user("viewer")
    for key, view in VIEWS:
        with subtests.test(key, **view):
            assert_only_text(browser, viewer, key, state_for(key, workspace) | view)


def assert_only_text(browser, viewer, key, state):
    document = page_of(key).build(page_of(key).form(as_query(state)).filters, Reading(viewer))

    def file(ending, **more):
        url = reverse(f"reports:{key}_download", args=[ending])
        return browser.get(url, {**state, **more}).getvalue().decode()

    page = browser.get(reverse(f"reports:{key}"), {**state, "compute": "1"}).content.decode()
    figures = [unescape(text) for text in re.findall(r'data-figure="([^"]*)"', page)]
    assert "javascript:x" in page, "no name stands on the page, so this would not fail"
    assert not MARKUP.search(page)
    assert [found for text in figures for found in MARKUP.findall(drawn(text))] == []
    html = file("html")
    written = re.sub(r"<script>.*?</script>", "", html, flags=re.S)
    assert not MARKUP.search(written)
    assert not re.search(r"(?<!\\)\]\(javascript|(?<!\\)<", file("md"))
    for table in document.tables:
        lines = csv.reader(io.StringIO(file("csv", table=table.key)[1:]))
        assert not [cell for line in lines for cell in line if cell.startswith("=")]
