"""The outcomes of compared runs, each as a whole and by tag."""

import json
from typing import Any

import plotly.graph_objects as go
import pytest

from evalhub.models import LanguageModel
from reports.compare.figure import RateDots, dumbbells
from runs.figures.rate import rate_of_issues
from tests.factories import make_issue, make_model, make_test
from tests.reports.compare.test_page import FAIL, NONE, PASS, listed, report
from tests.reports.judged_runs import fail, judged

COUNTS = {"passed": 3, "failed": 1, "unscored": 0, "error": 0, "pending": 0}
HALF, ALL = (rate_of_issues([(passed, 2)], answers=1) for passed in (1, 2))
FIGURE = dumbbells(
    ["law", "maths"],
    [
        RateDots("kelp", "red", "circle", [HALF, None], ["kelp, <law>", "kelp, maths"]),
        RateDots("aurora", "blue", "square", [ALL, ALL], ["a", "b"]),
    ],
)


def test_figure_is_one_that_plotly_accepts():
    assert go.Figure(FIGURE).data is not None
    assert json.loads(json.dumps(FIGURE, allow_nan=False)) == FIGURE


def test_each_tag_has_a_line_from_its_lowest_to_its_highest_rate():
    line, kelp, aurora = FIGURE["data"]
    assert (kelp["x"], aurora["x"]) == ([0.5, None], [1, 1])
    assert line["x"] == [0.5, 1, None, 1, 1, None]
    assert line["y"] == [0, 0, None, 1, 1, None]
    assert kelp["hovertext"][0] == "kelp, &lt;law&gt;"


@pytest.fixture
def tests(db):
    return [make_test(issue=make_issue(tags=(tag, "all"))) for tag in ("law", "maths", "law")]


@pytest.fixture
def runs(tests):
    models = [make_model(name=name) for name in ("kelp", "aurora", "kelp 2")]
    votes: list[list[list[Any]]] = [[PASS, PASS, FAIL], [FAIL, PASS, NONE], [PASS, PASS, PASS]]
    return [
        judged(*given, tests=tests, model=model, label=f"run of {model.name}")
        for given, model in zip(votes, models, strict=True)
    ]


def rates(document):
    return {
        tag: [rate and (rate.value.passed, rate.value.n) for rate in cells]
        for tag, *cells in document.table("rates").rows
    }


def test_two_runs_show_all_outcomes_of_each(runs):
    fail(runs[1], runs[1].results.first())
    document = report(*runs[:2])

    first, second = listed(document, "totals")
    assert [first[name] for name in COUNTS] == [2, 1, 0, 0, 0]
    assert [second[name] for name in COUNTS] == [1, 0, 1, 1, 0]
    assert (second["rate"].passed, second["rate"].n) == (1, 1)


def test_runs_show_their_rates_on_each_tag_side_by_side(runs):
    document = report(*runs)
    table = document.table("rates")

    assert [column.title for column in table.columns] == ["Tag", "kelp", "aurora", "kelp 2"]
    assert rates(document) == {
        "law": [(1, 2), (0, 1), (2, 2)],
        "all": [(2, 3), (1, 2), (3, 3)],
        "maths": [(1, 1), (1, 1), (1, 1)],
    }
    assert rates(report(*runs[:2]))["law"] == [(1, 2), (0, 1)]
    assert table.rows[0][1].url == f"/reports/runs/{runs[0].pk}/?tag=law#results"


def test_a_run_without_a_tag_has_no_rate_on_it(runs, tests):
    shorter = judged(PASS, tests=tests[1:2], label="shorter")

    assert rates(report(*runs, shorter))["law"][-1] is None


def test_runs_of_one_model_differ_in_their_marker(tests):
    model = make_model(name="kelp")
    runs = [judged(vote, tests=tests[:1], model=model) for vote in (PASS, PASS, FAIL)]
    table = report(*runs).table("rates")
    _, *dots = table.figure["data"]

    assert len({one["marker"]["color"] for one in dots}) == 1
    assert len({one["marker"]["symbol"] for one in dots}) == 3


def test_tags_without_a_difference_are_folded_and_not_drawn(runs):
    table = report(*runs).table("rates")

    assert table.figure["layout"]["yaxis"]["ticktext"] == ["law", "all"]
    assert (table.shown, table.rest) == (2, "1 tag without a difference")


def test_families_have_a_column_each(runs):
    LanguageModel.objects.filter(name__startswith="kelp").update(family="Kelp")
    LanguageModel.objects.filter(name="aurora").update(family="Aurora")
    document = report(*runs, family="on")

    _, kelp, aurora = next(row for row in document.table("rates").rows if row[0] == "law")
    assert (kelp.passed, kelp.n) == (3, 4)
    assert (aurora.value.passed, aurora.value.n) == (0, 1)


def test_sealed_and_open_tests_can_be_told_apart(db):
    tests = [make_test(sealed=True), make_test()]
    runs = [judged(PASS, FAIL, tests=tests) for _ in range(3)]

    def passed(**filters):
        (rate, *_) = (row["rate"] for row in listed(report(*runs, **filters), "totals"))
        return rate.passed, rate.n

    assert passed() == (1, 2)
    assert passed(tests="sealed") == (1, 1)
    assert passed(tests="open") == (0, 1)
    assert "Only some of the tests: open tests." in report(*runs, tests="open").sentences
