"""The run that later runs of a suite are compared with."""

import pytest

from runs.admin.suite.admin import SuiteForm
from runs.baselines import NoBaseline, pin, unpin
from runs.models import Suite
from tests.api import client_of
from tests.reports.judged_runs import judged

pytestmark = pytest.mark.django_db


@pytest.fixture
def suite():
    return Suite.objects.create(name="Everyday questions")


def test_a_done_run_becomes_the_baseline_of_its_suite(suite):
    run = judged([1], suite=suite)

    assert pin(run) == suite
    assert Suite.objects.get().baseline == run


def test_another_run_takes_its_place(suite):
    first, second = judged([1], suite=suite), judged([1], suite=suite)
    pin(first)
    pin(second)

    assert Suite.objects.get().baseline == second


def test_only_the_baseline_itself_is_taken_back(suite):
    first, second = judged([1], suite=suite), judged([1], suite=suite)
    pin(first)

    with pytest.raises(NoBaseline, match="is not the baseline"):
        unpin(second)

    assert Suite.objects.get().baseline == first


@pytest.mark.parametrize(("of_suite", "done"), [(True, False), (False, True)])
def test_the_admin_refuses_what_the_page_refuses(suite, of_suite, done):
    run = judged([1], suite=suite if of_suite else None, done=done)
    form = SuiteForm({"name": suite.name, "baseline": run.pk, "defaults": "{}"}, instance=suite)

    assert not form.is_valid()
    assert run.label in form.errors["baseline"][0]


def test_the_admin_takes_a_done_run_of_the_suite(suite):
    run = judged([1], suite=suite)
    form = SuiteForm({"name": suite.name, "baseline": run.pk, "defaults": "{}"}, instance=suite)

    assert form.is_valid(), form.errors


def test_programs_set_a_baseline_by_the_same_rule(suite):
    client = client_of("maintainer")
    done, undone = judged([1], suite=suite), judged([1], suite=suite, done=False)

    refused = client.patch(f"/api/v1/suites/{suite.pk}/", {"baseline": undone.pk})
    taken = client.patch(f"/api/v1/suites/{suite.pk}/", {"baseline": done.pk})

    assert (refused.status_code, taken.status_code) == (400, 200)
    assert "has to be done" in str(refused.json())
    assert taken.json()["baseline"] == done.pk
