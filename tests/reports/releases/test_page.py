"""Release against release: each model against itself, with what is certain."""

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.http import urlencode

from evalhub.statistics.changes.conclusion import Basis
from reports.compare.conclusion_words import RESTS_ON
from reports.documents.reading import Reading
from reports.releases.page import RELEASES
from reports.schedules.snapshots import make
from runs.comparison.baselines import pin
from runs.comparison.comparability import rejudge_url
from runs.models import Run, Suite
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from tests.factories import (
    make_issue,
    make_jury,
    make_model,
    make_run,
    make_test,
    make_user,
    shared_jury,
)
from tests.reports.judged_runs import answer, fail, finish, judge
from tests.reports.schedules.test_snapshots import make_report
from tests.reports.workspaces import make_workspace
from tests.shared_data import shared_data

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_nothing_kept")]


@shared_data
def tests():
    """Seven tests of each of two issues."""
    issues = [make_issue(title=f"Issue {n}") for n in range(2)]
    return [make_test(f"Q {n}?", issue=issues[n // 7]) for n in range(14)]


def released(tests, release, votes, *, name="Tiny", suite="s", jury=None, scored=None):
    """A run of this model; 1 passed, 0 failed."""
    suite, _ = Suite.objects.get_or_create(name=suite)
    model = Run.objects.filter(model_name=name).first()
    run = make_run(
        *tests,
        model=model.language_model if model else make_model(name=name),
        suite=suite,
        jury=jury or shared_jury(),
        release=release,
        variant_key=name,
        label=f"{suite}, {release}",
    )
    results = answer(run)
    judge(run, [[vote] for vote in votes])
    for result in results[scored:] if scored is not None else ():
        fail(run, result)
    finish(run)
    run.refresh_from_db()
    return run


def document(reading=None, **state):
    form = RELEASES.form(QueryDict(urlencode(state)))
    assert not form.problems
    return RELEASES.build(form.filters, reading or Reading(make_user("maintainer")))


def facts(found):
    return {fact.name: fact.value for fact in found.facts}


LOST = [0] * 7 + [1] * 7


def test_each_model_is_set_against_itself_and_not_against_the_baseline(tests):
    # The baseline is another model that passes all; "Tiny" is as it was.
    other = released(tests, "1.0", [1] * 14, name="Other")
    released(tests, "1.0", LOST)
    released(tests, "1.1", LOST)
    pin(other)

    (row,) = document().table("models").as_rows()
    found = row["model"].text, row["net"].value, row["conclusion"]
    assert found == ("Tiny", 0, "no outcome changed")


def test_a_conclusion_is_a_sentence_with_counts_and_lost_issues(tests):
    # 7 lost, 0 won: mid-p 1 / 2^7.
    released(tests, "1.0", [1] * 14)
    released(tests, "1.1", LOST)
    found = document()

    assert found.title == "Release 1.1 against 1.0"
    assert found.sentences == (
        "Judges rate Tiny worse.",
        "Tiny: judges rate it worse: lost 7, won 0 of the same 14 tests. Lost for sure: “Issue 0” "
        "(7 of 7).",
        RESTS_ON[Basis.JUDGES],
    )
    (row,) = found.table("models").as_rows()
    assert row["p"] == pytest.approx(1 / 2**7)
    (row,) = found.table("issues").as_rows()
    assert (row["issue"].text, row["lost"], row["is_sure"]) == ("Issue 0", 7, "yes")


def test_a_loss_that_may_be_chance_is_named_as_such(tests):
    # Of two issues one lost all of seven tests, the other won seven: 0.031, at most 0.025 is sure.
    released(tests, "1.0", [1] * 7 + [0] * 7)
    released(tests, "1.1", [0] * 7 + [1] * 7)

    said = document().sentences[1]
    assert said.startswith("Tiny: cannot tell: lost 7, won 7 of the same 14 tests.")
    assert said.endswith("Lost, none sure by itself: “Issue 0” (7 of 7).")


def test_several_models_change_no_word_and_add_a_sentence(tests):
    names = ("a", "b", "c", "d")
    for release, votes in (("1.0", [1] * 14), ("1.1", LOST)):
        for name in names:
            released(tests, release, votes, name=name)

    found = document()
    rows = found.table("models").as_rows()
    assert [row["p"] for row in rows] == pytest.approx([1 / 2**7] * 4)
    assert {row["conclusion"] for row in rows} == {"judges rate it worse"}
    assert "4 comparisons: by chance alone one is called worse" in found.sentences[-1]


def test_models_of_another_jury_have_one_warning_and_each_a_named_button(client, tests):
    other = make_jury(make_model())
    old = [released(tests, "1.0", [1] * 14, name=name) for name in ("b", "a")]
    new = [released(tests, "1.1", [0] * 14, name=name, jury=other) for name in ("b", "a")]
    found = document()

    for row in found.table("models").as_rows():
        assert (row["net"], row["p"], row["conclusion"]) == (None, None, None)
    (reason,) = found.warnings
    assert reason == "a, b: Not comparable with release 1.0: different juries judged these runs."
    assert not any("Not comparable" in sentence for sentence in found.sentences)
    urls = [rejudge_url(*(run.pk for run in pair)) for pair in zip(new, old, strict=True)]
    ship, hold, *rejudge = found.actions
    assert [action.url for action in rejudge] == urls[::-1]
    assert [action.text.split(",")[0] for action in (ship, hold, *rejudge)] == [
        *("Ship…", "Hold…"),
        *("Re-judge a", "Re-judge b"),
    ]
    assert not document(Reading(make_user("viewer"))).actions
    assert {"worse", "issues"}.isdisjoint(facts(found))  # nothing was compared
    viewer = make_user("viewer")
    client.force_login(viewer)
    assert reason in client.get(reverse("admin:index")).content.decode()
    report = make_report(page="releases", query="")
    report.people.add(viewer)
    make(report)
    assert reason in viewer.notifications.get().text


def test_an_earlier_comparable_run_of_the_release_counts_instead(tests):
    released(tests, "1.0", [1] * 14)
    released(tests, "1.0", [1] * 14, jury=make_jury(make_model()))
    released(tests, "1.1", LOST)

    assert facts(document())["worse"] == 1


def test_a_run_with_too_few_scores_is_left_out_and_listed(tests):
    released(tests, "1.0", [1] * 14)
    released(tests, "1.1", [1] * 14)
    half = released(tests, "1.1", [1] * 14, scored=7)
    found = document()

    (row,) = found.table("models").as_rows()
    assert row["now"].total == 14
    assert row["now"].n == 14
    assert [row["run"].url for row in found.table("incomplete").as_rows()] == [
        half.get_absolute_url()
    ]


def test_overturned_verdicts_and_the_cost_of_both_are_shown(tests):
    released(tests, "1.0", [1] * 14)
    run = released(tests, "1.1", [1] * 14)
    ann = make_user("annotator")
    for result, option in zip(run.results.order_by("pk"), ("0", "1"), strict=False):
        evaluate(result, HumanVerdict(option, "So."), by=ann)
    priced = {"input_usd_per_mtok": 1, "output_usd_per_mtok": 1}
    for each, spent in zip(Run.objects.order_by("pk"), (1, 2), strict=True):
        each.endpoint, each.spent_usd = each.endpoint | priced, spent
        each.save()
    found = document()

    (row,) = found.table("models").as_rows()
    assert row["overturned"].value == "1 of 2"
    assert (row["cost_before"], row["cost"]) == (1, 2)
    assert facts(found)["overturned"] == 1


def test_figures_are_of_all_runs_of_the_release_and_of_models_not_of_suites(monkeypatch, tests):
    monkeypatch.setattr("reports.releases.query.MAX_LINES", 2)
    for release, votes in (("1.0", 1), ("1.1", 0)):
        released(tests, release, [votes] * 14, name="c", suite="t")
        for name, suite in (("a", "t"), ("b", "s"), ("a", "s")):
            last = released(tests, release, [1] * 14, name=name, suite=suite)
    released(tests, "1.1", [1] * 14, name="b", scored=7)
    evaluate(last.results.first(), HumanVerdict("0", "No."), by=make_user("annotator"))
    priced = {"input_usd_per_mtok": 1, "output_usd_per_mtok": 1}
    Run.objects.update(endpoint=priced, spent_usd=1)
    found = document()

    assert [row["model"].text for row in found.table("models").as_rows()] == ["c · t", "a · s"]
    assert found.sentences[0] == ("Judges rate c worse; no outcome of a and b changed.")
    assert found.leading_sentences[-2:] == (
        "2 of 4 runs are listed, losses first.",
        "Release 1.1 cost $5.00 in 5 runs; what 1.0 ran, too, cost $4.00, before $4.00.",
    )
    notes = {fact.name: (fact.value, fact.note) for fact in found.facts}
    assert notes["compared"] == (3, "of 3")
    assert notes["worse"] == (1, "of 3 compared")
    assert notes["overturned"] == (1, "of 1 reviewed by annotators")
    assert notes["cost"] == (5, "5 runs, before: $4.00 in 4 runs")


def test_runs_without_a_release_are_set_against_the_run_before(tests):
    released(tests, "", [1] * 14)
    released(tests, "", LOST)
    found = document()

    assert found.title == "Newest runs against the runs before"
    assert facts(found)["worse"] == 1


def test_what_takes_long_is_left_to_a_second_request(tests):
    released(tests, "1.0", [1] * 14)
    released(tests, "1.1", LOST)
    reading = Reading(make_user("viewer"), computes=False)
    found = document(reading)

    assert reading.pending
    assert "worse" not in facts(found)
    assert found.sentences[0] == "1 model in this release: conclusions are being computed."


def test_no_run_and_one_run_give_a_page():
    assert document().table("models").empty.startswith("No complete run yet.")
    released([make_test()], "1.0", [1])

    found = document()
    assert found.sentences == ("First run of 1.0. The next release will be compared with it.",)
    assert set(facts(found)) == {"cost"}


def test_more_runs_and_models_need_no_more_queries(client):
    client.force_login(make_user("maintainer"))

    def count():
        client.get(reverse("reports:releases"), {"compute": "1"})
        with CaptureQueriesContext(connection) as queries:
            assert client.get(reverse("reports:releases")).status_code == 200
        return len(queries)

    make_workspace(releases=3)
    few = count()
    make_workspace(releases=6)

    assert count() <= few
