"""The heat map: rows, columns and their order."""

import pytest
from django.http import QueryDict

from evalhub.models import LanguageModel
from evalhub.statistics.rates.rate_interval import Method
from reports.documents.reading import Reading
from reports.heatmap.page import HEATMAP
from runs.models import Suite
from tests.factories import make_issue, make_jury, make_model, make_test, make_user
from tests.reports.judged_runs import judged

pytestmark = pytest.mark.django_db


def heat(query="", *, computes=True):
    form = HEATMAP.form(QueryDict(query))
    reading = Reading(make_user("viewer"), computes=computes)
    return HEATMAP.build(form.filters, reading), reading


def table(query=""):
    """Names of rows with their rates, column by column, and the names of the columns."""
    found = heat(query)[0].table("map")
    rows = {row[0].text: [share(value) for value in row[1:-5]] for row in found.rows}
    return [column.title for column in found.columns[1:-5]], rows


def share(value):
    return value and (value.value.passed, value.value.n)


def run_of(model, suite, votes, tests, **fields):
    key = fields.pop("variant_key", model.name)
    return judged(*votes, tests=tests, model=model, suite=suite, variant_key=key, **fields)


@pytest.fixture
def ledger():
    """Kelp passes 3 of 4, aurora 2; "dates" is hard for both, "sums" parts them."""
    suite = Suite.objects.create(name="the suite")
    names = {"dates": ("law", "all"), "sums": ("maths", "all"), "easy": ("maths", "all")}
    issues = [make_issue(title=title, tags=tags) for title, tags in names.items()]
    tests = [make_test(issue=issue) for issue in (*issues, issues[0])]
    kelp, aurora = make_model(name="kelp"), make_model(name="aurora")
    run_of(kelp, suite, [[0], [0], [0], [0]], tests)
    run_of(aurora, suite, [[0], [0], [1], [1]], tests)
    run_of(kelp, suite, [[1], [1], [1], [0]], tests)
    return suite, kelp, aurora


def test_columns_are_the_latest_runs_the_best_first(ledger):
    columns, rows = table()

    assert columns == ["kelp", "aurora"]
    assert rows == {"dates": [(1, 2), (1, 2)], "sums": [(1, 1), (0, 1)], "easy": [(1, 1), (1, 1)]}


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("difficulty", ["dates", "sums", "easy"]),
        ("spread", ["sums", "dates", "easy"]),
        ("name", ["dates", "easy", "sums"]),
    ],
)
def test_rows_are_sorted_as_asked(ledger, order, names):
    assert list(table(f"order={order}")[1]) == names


def test_rows_can_be_tags(ledger):
    _, rows = table("rows=tag")
    together = {row[-5].method for row in heat("rows=tag")[0].table("map").rows}

    assert rows == {"law": [(1, 2), (1, 2)], "maths": [(2, 2), (1, 2)], "all": [(3, 4), (2, 4)]}
    assert together == {Method.BY_TEST}  # of all models


def test_a_cell_opens_the_results_that_it_counts(ledger):
    row = heat()[0].table("map").rows[0]

    assert row[1].url.endswith("#results")
    assert "?issue=" in row[1].url


def test_variants_of_a_model_can_be_one_column(ledger):
    suite, kelp, _ = ledger
    tests = list(suite.runs.first().results.order_by("pk"))
    run_of(kelp, suite, [[1]], [tests[0].test], variant_key="warm", params={"temperature": 1})

    assert len(table()[0]) == 3
    assert table("columns=identity")[0] == ["kelp", "aurora"]


def test_columns_are_of_the_newest_release_unless_all_are_asked_for():
    suite, tests = Suite.objects.create(name="the suite"), [make_test()]
    for name, release in (("kelp", "1.0"), ("aurora", "1.0"), ("kelp", "1.1")):
        model = LanguageModel.objects.filter(name=name).first() or make_model(name=name)
        run_of(model, suite, [[1]], tests, release=release)

    assert table()[0] == ["kelp"]
    assert sorted(table("release=all")[0]) == ["aurora", "kelp"]
    assert sorted(table("release=1.0")[0]) == ["aurora", "kelp"]
    assert any("1 column without a run in this release" in one for one in heat()[0].sentences)


def test_sentences_name_issues_that_no_model_passes(ledger):
    suite, kelp, aurora = ledger
    hopeless = make_test(issue=make_issue(title="hopeless"))
    for model in (kelp, aurora):
        run_of(model, suite, [[0]], [hopeless])

    assert "No model passed any test of hopeless." in heat()[0].sentences


def two_models(suite, votes, tests):
    for name, one in zip(("kelp", "aurora"), votes, strict=True):
        run_of(make_model(name=name), suite, [[vote] for vote in one], tests)


def test_the_issue_on_which_models_differ_most_is_named_with_its_evidence():
    suite = Suite.objects.create(name="the suite")
    issues = [make_issue(title=title) for title in ("sums", "one test")]
    tests = [make_test(issue=issues[0]) for _ in range(8)] + [make_test(issue=issues[1])]
    two_models(suite, ([1] * 9, [0] * 6 + [1, 1, 0]), tests)

    (said,) = [one for one in heat()[0].sentences if one.startswith("Models differ most")]

    assert said.startswith("Models differ most on sums: by 75 points (8 tests that all have scored")
    assert "p = 0.0" in said
    assert said.endswith(" by permutation within tests).")


def test_a_difference_on_one_test_is_not_said_to_be_the_largest(ledger):
    assert not any("differ most" in sentence for sentence in heat()[0].sentences)


def test_differences_between_juries_are_not_said_to_be_of_models():
    suite = Suite.objects.create(name="the suite")
    issue = make_issue(title="sums")
    tests = [make_test(issue=issue) for _ in range(8)]
    two_models(suite, ([1] * 8, [0] * 8), tests)
    again = make_jury(make_model())
    run_of(make_model(name="kelp 2"), suite, [[1]] * 8, tests, jury=again)

    assert not any("differ most" in sentence for sentence in heat()[0].sentences)


def test_columns_there_is_no_room_for_are_named(ledger, monkeypatch):
    monkeypatch.setattr("reports.heatmap.query.MAX_COLUMNS", 1)
    document, _ = heat()

    assert len(document.table("map").columns) == 7
    assert any(sentence.startswith("Not shown: aurora, which") for sentence in document.sentences)


def test_a_test_that_a_run_has_not_is_not_measured(ledger):
    suite, _, aurora = ledger
    extra = make_test(issue=make_issue(title="extra"))
    run_of(aurora, suite, [[1]], [extra])

    assert table()[1]["extra"] == [(1, 1), None]
