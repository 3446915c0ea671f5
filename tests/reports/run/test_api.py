"""A run's progress and report through the API."""

import pytest

from tests.api import client_of
from tests.factories import make_jury, make_model, make_run, make_test
from tests.reports.judged_runs import answer, judge

pytestmark = pytest.mark.django_db


def judged_run():
    run = make_run(make_test(), make_test(), make_test(), jury=make_jury(make_model()))
    answer(run)
    judge(run, [[1.0], [0.0], [None]])
    return run


def test_the_report_has_the_figures_with_their_numbers():
    run = judged_run()

    report = client_of("viewer").get(f"/api/v1/runs/{run.pk}/report/").json()

    tables, rate = report["tables"], report["facts"]["pass_rate"]["value"]
    counts = {row["outcome"]: row["n"] for row in tables["outcomes"]["rows"]}
    assert counts == {"passed": 1, "failed": 1, "unscored": 1, "error": 0, "pending": 0}
    assert (rate["passed"], rate["n"], rate["share"]) == (1, 2, 0.5)
    assert [(row["kind"], row["n"]) for row in tables["judge_errors"]["rows"]] == [
        ("unreadable", 1)
    ]
    assert len(tables["issues"]["rows"]) == 3


def test_what_was_not_measured_is_null():
    run = make_run()

    report = client_of("viewer").get(f"/api/v1/runs/{run.pk}/report/").json()

    rate = report["facts"]["pass_rate"]["value"]
    assert (rate["share"], report["tables"]["latency"]["rows"]) == (None, [])


def test_progress_tells_how_far_a_run_has_come():
    run = judged_run()

    progress = client_of("viewer").get(f"/api/v1/runs/{run.pk}/progress/").json()

    assert (progress["total"], progress["answered"], progress["judged"]) == (3, 3, 3)


@pytest.mark.parametrize("name", ["report", "progress"])
def test_a_report_needs_the_right_to_see_runs(name):
    run = make_run()

    assert client_of("").get(f"/api/v1/runs/{run.pk}/{name}/").status_code == 403
    assert client_of("viewer").get(f"/api/v1/runs/999/{name}/").status_code == 404
    assert client_of("viewer").get(f"/api/v1/runs/{run.pk}/{name}/?x=1").status_code == 400
