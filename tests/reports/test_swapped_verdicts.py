"""Verdicts that change places leave every sum as it was, and change every figure of single tests."""

import pytest
from django.urls import reverse

from reports.models import Capability, CapabilityWeight
from runs.figures.run_tallies import count_due
from runs.models import Run, Suite
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from tests.factories import make_issue, make_model, make_run, make_test, make_user, shared_jury
from tests.reports.judged_runs import answer, finish, judge

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_nothing_kept")]

OLD = [1, 0, 0, 1, 1, 1, 1, 1, 1, 1]
NEW = [1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
"""Of ten tests in one issue: six fail, then tests 1 and 4 change places with 2 and 3."""


def run_of(model, release, votes, tests, suite):
    run = make_run(
        *tests, model=model, suite=suite, jury=shared_jury(), release=release, variant_key=model.name
    )
    answer(run)
    judge(run, [[vote] for vote in votes])
    finish(run)
    return Run.objects.get(pk=run.pk)


def figures(client, old, new):
    def read(name, **query):
        response = client.get(reverse(f"api-report-{name}"), query)
        assert response.status_code == 200, response.content
        return response.json()
    import json
    for name, query in (("releases", {}), ("trend", {}), ("leaderboard", {"least": 1}), ("compare", {"runs": [old.pk, new.pk]}), ("capabilities", {})):
        print(name, json.dumps(read(name, **query))[:3000])
    print(client.get(reverse("admin:index")).content.decode()[:200])
    return {}


def test_figures_of_swapped_verdicts_are_computed_anew(client):
    issue = make_issue()
    tests, suite = [make_test(issue=issue) for _ in OLD], Suite.objects.create(name="s")
    alpha, beta = make_model(name="Alpha"), make_model(name="Beta")
    old = run_of(alpha, "1.0", OLD, tests, suite)
    run_of(beta, "1.0", OLD, tests, suite)
    new = run_of(alpha, "1.1", NEW, tests, suite)
    count_due()
    client.force_login(make_user("maintainer"))
    before = figures(client, old, new)
    annotator = make_user("annotator")
    for result, value in zip(new.results.order_by("pk")[:4], "0110", strict=True):
        evaluate(result, HumanVerdict(value, "Swapped."), by=annotator)
    assert figures(client, old, new) == {}
    assert 0
