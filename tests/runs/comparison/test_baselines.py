"""The run that another run is compared with, and the baseline of a suite."""

import ast
from datetime import timedelta

import pytest

from runs.admin.suite.admin import SuiteForm
from runs.comparison.baselines import (
    NoBaseline,
    check,
    latest_pair,
    opponent_of,
    pin,
    skipped_baselines,
    unpin,
)
from runs.models import Run, Suite
from tests.api import client_of
from tests.factories import make_issue, make_template, make_test
from tests.layers import ROOT, sources
from tests.reports.judged_runs import judged
from tests.reports.scored_runs import as_judged

pytestmark = pytest.mark.django_db


@pytest.fixture
def suite():
    return Suite.objects.create(name="Everyday questions")


@pytest.fixture
def run_of(suite):
    """A function that makes a complete run of one test, of the suite unless told otherwise."""
    test = make_test()

    def make(variant="v", **fields):
        fields = {"suite": suite, "tests": [test], "variant_key": variant} | fields
        return judged(*[[1]] * len(fields["tests"]), **fields)

    return make


# Opponents ---------------------------------------------------------------------------------------


def test_a_run_is_compared_with_the_baseline_of_its_model_or_else_the_previous_run(run_of):
    first, baseline, previous, _, run = (
        run_of(),
        run_of("other model"),
        run_of(),
        run_of("other model"),
        run_of(),
    )

    assert [opponent_of(one) for one in (first, baseline, run)] == [None, None, previous]
    pin(baseline)
    assert opponent_of(run) == previous  # The baseline is another model's.
    pin(first)
    assert opponent_of(run) == first
    pin(previous)
    assert opponent_of(previous) == first  # The baseline itself has the previous run.
    pin(baseline)
    baseline.judge_runs.update(state="live")
    assert opponent_of(run) == previous


def test_a_baseline_without_a_test_in_common_is_passed_over(run_of):
    previous = run_of()
    pin(run_of("other model", tests=[make_test()]))

    assert opponent_of(run_of()) == previous


def test_incomplete_runs_and_those_of_other_suites_are_passed_over(run_of):
    previous = run_of()
    run_of(done=False)
    run_of(suite=None)
    run_of(suite=Suite.objects.create(name="Other"))

    assert opponent_of(run_of()) == previous


def test_earlier_goes_by_date_where_runs_were_imported_later(run_of):
    newer, run, imported = run_of(), run_of(), run_of()
    for days, one in enumerate((imported, newer, run)):
        Run.objects.filter(pk=one.pk).update(created_at=run.created_at + timedelta(days=days))

    assert [opponent_of(one) for one in (run, newer, imported)] == [newer, imported, None]


def test_runs_of_no_suite_have_no_opponent(run_of):
    run_of(suite=None)

    assert opponent_of(run_of(suite=None)) is None


def test_the_latest_pair_is_that_of_the_newest_run_with_an_opponent(run_of, suite):
    previous, run = run_of(), run_of()
    run_of("other model")

    assert latest_pair() == latest_pair(suite) == (previous, run)
    assert latest_pair(Suite.objects.create(name="Other")) is None


ATTRIBUTES, PATH = ("baselines", "baseline_release"), "suite__baseline"


def baseline_lookups(source):
    """Attributes and field paths by which code reads the baseline of a suite, with their lines."""
    for node in ast.walk(ast.parse(source)):
        if (
            (isinstance(node, ast.Attribute) and node.attr in ATTRIBUTES)
            or (isinstance(node, ast.Constant) and str(node.value).startswith(PATH))
            or (isinstance(node, ast.keyword) and str(node.arg).startswith(PATH))
        ):
            yield node.lineno


def test_no_other_module_looks_up_baselines():
    """A second rule on what a run is compared with would have to read `Suite.baselines`."""
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in sources("*.py")}
    found = {
        f"{name}:{line}"
        for name, text in texts.items()
        if name != "runs/comparison/baselines.py" and "baseline" in text
        for line in baseline_lookups(text)
    }

    assert {place for place in found if not place.startswith(SETS_BASELINES)} == set()


SETS_BASELINES = ("runs/admin/suite/admin.py:", "reports/urls.py:")
"""The form field, and the view that pins."""


# Pinning -----------------------------------------------------------------------------------------


def test_a_done_run_becomes_the_baseline_of_its_suite_until_another_takes_its_place(run_of, suite):
    first, second = run_of(), run_of()
    assert pin(first) == suite
    with pytest.raises(NoBaseline, match="is not a baseline"):
        unpin(second)
    pin(second)
    assert {*suite.baselines.all()} == {first, second}
    again = run_of(language_model=first.language_model)
    pin(again)

    assert {*suite.baselines.all()} == {again, second}
    with pytest.raises(NoBaseline, match="are of one model"):
        check(suite, [first, again])


def form_of(suite, baseline):
    gate = {"gate_conclusion": "on", "gate_level": "0.05"}
    sent = {"name": suite.name, "baselines": [baseline.pk], "defaults": "{}", **gate}
    return SuiteForm(sent, instance=suite)


def test_admin_and_programs_set_a_baseline_by_the_same_rule(run_of, suite):
    client = client_of("maintainer")
    done, undone, elsewhere = run_of(), run_of(done=False), run_of(suite=None)

    for wrong in (undone, elsewhere):
        form = form_of(suite, wrong)
        assert not form.is_valid()
        assert wrong.label in form.errors["baselines"][0]
    form = form_of(suite, done)
    assert form.is_valid(), form.errors
    refused = client.patch(f"/api/v1/suites/{suite.pk}/", {"baselines": [undone.pk]})
    taken = client.patch(f"/api/v1/suites/{suite.pk}/", {"baselines": [done.pk]})

    assert (refused.status_code, taken.status_code) == (400, 200)
    assert "must be done" in str(refused.json())
    assert taken.json()["baselines"] == [done.pk]


# Incomplete runs ---------------------------------------------------------------------------------


@pytest.fixture
def twenty():
    issue, template = make_issue(), make_template()
    return [make_test(issue=issue, template=template) for _ in range(20)]


@pytest.fixture
def partly(run_of, twenty):
    """A function that makes a complete run of 20 tests, of which so many are scored."""

    def make(scored, **fields):
        run = run_of(tests=twenty, **fields)
        lacking = run.results.order_by("-pk")[: 20 - scored].values_list("pk", flat=True)
        run.results.filter(pk__in=list(lacking)).update(**as_judged(None))
        return run

    return make


def test_a_run_that_lacks_more_than_a_twentieth_is_no_baseline_and_no_previous_run(partly, suite):
    enough, incomplete, run = partly(19), partly(18), partly(20)
    assert opponent_of(run) == enough
    assert latest_pair() == (enough, run)
    with pytest.raises(NoBaseline, match=r"incomplete, 18/20 scored: a baseline needs 95%"):
        pin(incomplete)
    assert not suite.baselines.exists()
    assert pin(enough) == suite


def test_a_baseline_that_became_incomplete_is_skipped_with_its_reason(partly):
    previous, baseline, run = partly(20), partly(20), partly(20)
    pin(baseline)
    assert opponent_of(run) == baseline
    assert skipped_baselines([run.pk]) == {}

    baseline.results.update(**as_judged(None))

    assert opponent_of(run) == previous
    (reason,) = skipped_baselines([run.pk]).values()
    assert f"{baseline.label} is incomplete, 0/20 scored" in reason
    baseline.judge_runs.update(state="live")  # judged again
    assert "must be done" in skipped_baselines([run.pk])[run.pk]


def test_repeats_count_one_by_one(run_of, suite):
    """10 tests twice: one failed call is a twentieth, and still enough."""
    run = run_of(tests=[make_test() for _ in range(10)], repeats=2)
    assert run.results.count() == 20
    run.results.update(**as_judged(1))
    run.results.filter(pk=run.results.first().pk).update(**as_judged(None))

    assert pin(run) == suite
