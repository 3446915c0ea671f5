"""Runs side by side by the families of their models."""

import pytest
from django.http import QueryDict

from evalhub.models import LanguageModel
from reports.compare.page import COMPARE
from reports.documents.reading import Reading
from tests.factories import make_user
from tests.reports.workspaces import make_workspace

pytestmark = pytest.mark.django_db


def document_about(runs):
    query = QueryDict(mutable=True)
    query.setlist("runs", [str(run.pk) for run in runs])
    query["family"] = "on"
    return COMPARE.build(COMPARE.form(query).filters, Reading(make_user("viewer")))


def test_runs_of_one_family_are_added_up():
    ledger = make_workspace()
    LanguageModel.objects.filter(name__startswith="steady").update(family="Steady ones")
    LanguageModel.objects.filter(name__startswith="shaky").update(family="Shaky ones")

    document = document_about(ledger.runs)
    totals = {row["family"]: row for row in document.table("totals").as_rows()}

    # Steady passed 5 of 6 and, with its first test flipped, 4; shaky 3 of 6, then 2.
    assert (totals["Steady ones"]["rate"].passed, totals["Steady ones"]["rate"].n) == (9, 12)
    assert (totals["Shaky ones"]["rate"].passed, totals["Shaky ones"]["rate"].n) == (5, 12)
    assert [row["runs"] for row in totals.values()] == [2, 2]


def test_tests_are_grouped_by_family():
    ledger = make_workspace()
    LanguageModel.objects.filter(name__startswith="steady").update(family="Steady ones")

    grid = document_about(ledger.runs).table("grid")
    first = next(row for row in grid.rows if row[0].text == f"test {ledger.tests[0].pk}")

    assert grid.columns[1].title == "Steady ones"
    assert first[1].text == "50% (1 of 2)"


def test_two_runs_are_grouped_by_family():
    runs = make_workspace().runs[:2]

    assert document_about(runs).title == "Differences between 2 model families: steady, shaky"
