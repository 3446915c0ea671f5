"""Agreement of judges with humans: verdicts compared answer by answer, and the page."""

import pytest
from django.core.cache import caches
from django.urls import reverse

from issues.models import Polarity, TemplateExample
from reports.documents.document import Link
from reports.documents.reading import Reading
from reports.judge_reliability.accuracy_rule import Sample
from reports.judge_reliability.page import JUDGE_RELIABILITY
from reports.queries.human_agreement import calibration, evaluated_runs, judge_key, jury_key
from reports.run.query import run_report
from runs.models import ChosenBy, EvaluationKind
from runs.result_list.filters import Filters
from runs.scoring.human_evaluation import HumanVerdict, evaluate, withdraw
from tests.factories import make_issue, make_template, make_test, make_user
from tests.reports.documents.test_pages import as_query
from tests.reports.judged_runs import current, finish, judged
from tests.runs.rubric_runs import rubric_run

pytestmark = pytest.mark.django_db

DRAWN = {"chosen_by": ChosenBy.QUEUE_RANDOM, "blind": True}
POLITE, RUDE = {"text": "Is polite."}, {"text": "Is rude.", "polarity": Polarity.SHOULD_NOT}
CHECK = {"check_name": "contains", "arguments": {"text": "4"}}


def say(result, option, *, by=None, **fields):
    person = by or make_user("adjudicator")
    result.refresh_from_db()
    evaluate(result, HumanVerdict(option, "Because.", **fields), by=person)
    return person


def results_of(run):
    return list(run.results.order_by("pk"))


def found(**asked):
    reading = Reading(make_user("annotator"))
    return calibration(evaluated_runs(last=asked.pop("last", 50), **asked), reading)


def verdicts(run, party, people):
    """What this party and people said of each answer of the run."""
    rows = [row for row in people.rows if row.party == party and row.run == run.pk]
    return [(row.judged, row.humans, row.drawn) for row in sorted(rows, key=lambda r: r.result)]


def judges_of(run):
    return [judge_key(judge["judge"]) for judge in current(run).jury["judges"]]


def page(reader=None, **state):
    query = as_query({name: str(value) for name, value in state.items()})
    reading = Reading(reader or make_user("annotator"))
    return JUDGE_RELIABILITY.build(JUDGE_RELIABILITY.form(query).filters, reading)


def cells(document, key):
    return document.table(key).as_rows()


# Who said what -----------------------------------------------------------------------------------


def test_each_judge_is_compared_as_if_it_had_judged_alone():
    run = judged([1, 0], [1, 1], [0, 0])
    for result, option in zip(results_of(run), "100", strict=True):
        say(result, option)
    people = found()
    first, second = judges_of(run)

    assert verdicts(run, first, people) == [
        (True, True, None),
        (True, False, None),
        (False, False, None),
    ]
    assert verdicts(run, second, people) == [
        (False, True, None),
        (True, False, None),
        (False, False, None),
    ]


def test_the_jury_is_compared_by_the_score_of_all_its_judges():
    run = judged([1, 0], [1, 1])
    for result in results_of(run):
        say(result, "1")

    # 0.5 is not above 0.5.
    assert [said for said, *_ in verdicts(run, jury_key(current(run)), found())] == [False, True]


def test_a_failed_judgment_is_no_verdict():
    run = judged([None, 1])
    say(results_of(run)[0], "1")
    first, second = judges_of(run)

    assert verdicts(run, first, found()) == []
    assert verdicts(run, second, found()) == [(True, True, None)]


def test_verdicts_count_at_once_where_the_judge_run_is_done():
    run = judged([1], [0], done=False)
    first, second = results_of(run)
    say(first, "1")
    assert found().rows == ()

    finish(run)
    assert found().answers == 1
    say(second, "1")
    assert found().answers == 2


def test_what_people_do_not_agree_on_is_disputed():
    run = judged([1], [1])
    for result in results_of(run):
        say(result, "1")
    say(results_of(run)[0], "0")

    assert found().disputed == 1
    assert found().answers == 1


def test_an_adjudication_decides_what_was_disputed():
    run = judged([1])
    (result,) = results_of(run)
    for option in "10":
        say(result, option, **DRAWN)
    say(result, "0", kind=EvaluationKind.ADJUDICATION)

    assert verdicts(run, judges_of(run)[0], found()) == [(True, False, False)]


def teach(run, test):
    """Make an example of this test part of the wording with which the run's judges were asked."""
    example = TemplateExample(template=test.template, test=test, output="Four.", option="1")
    TemplateExample.objects.bulk_create([example])  # as it was before publication
    run.judge_runs.get().judgments.update(template=test.template)


def test_nobody_is_measured_on_the_tests_it_was_taught_with():
    template = make_template()
    taught, other = (make_test(f"Question {n}?", template=template) for n in range(2))
    run = judged([1], [1], tests=[taught, other])
    for result in results_of(run):
        say(result, "1", **DRAWN)
    (judge,) = judges_of(run)
    assert found().measured[Sample.DRAWN][0].n == 2

    teach(run, taught)
    caches["computed"].clear()

    people = found()
    assert {line.party: line.n for line in people.measured[Sample.DRAWN]} == {
        judge: 1,
        jury_key(current(run)): 1,
    }
    assert people.taught == {judge: 1, jury_key(current(run)): 1}
    assert "left out" in " ".join(page().warnings)


def test_an_example_that_belongs_to_no_test_leaves_nothing_out():
    run = judged([1])
    (result,) = results_of(run)
    say(result, "1", **DRAWN)
    example = TemplateExample(template=result.test.template, output="Four.", option="1")
    TemplateExample.objects.bulk_create([example])
    run.judge_runs.get().judgments.update(template=result.test.template)

    assert found().taught == {}
    assert found().answers == 1


# The random sample -------------------------------------------------------------------------------


def drawn_verdicts(*acts):
    """What the random sample says of one answer after these acts on it."""
    run = judged([1])
    (result,) = results_of(run)
    for act in acts:
        act(result)
    return [drawn for *_, drawn in verdicts(run, judges_of(run)[0], found())]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"chosen_by": ChosenBy.QUEUE_RANDOM, "blind": False},
        {"chosen_by": ChosenBy.QUEUE_SELECTED, "blind": True},
    ],
)
def test_the_sample_takes_only_what_is_both_random_and_blind(fields):
    assert drawn_verdicts(lambda result: say(result, "0", **fields)) == [None]


def test_later_evaluations_that_were_not_blind_do_not_count():
    person = make_user("annotator")

    assert drawn_verdicts(
        lambda result: say(result, "0", by=person, **DRAWN),
        lambda result: say(result, "1", by=person),
    ) == [False]


def test_what_was_taken_back_does_not_count():
    person = make_user("annotator")

    assert drawn_verdicts(
        lambda result: say(result, "1"),
        lambda result: say(result, "0", by=person, **DRAWN),
        lambda result: withdraw(result, by=person),
    ) == [None]


# Rubrics -----------------------------------------------------------------------------------------


def of_rubric(criteria, votes, said):
    run = rubric_run(criteria, votes)
    finish(run)
    (result,) = results_of(run)
    people = make_user("annotator")
    keys = {c.text: c.key for c in result.revision.criteria.all()}
    for text, option in said.items():
        say(result, option, by=people, criterion=keys[text])
    return run


def test_people_who_judged_every_point_have_judged_the_whole():
    votes = {"Is polite.": [1, 0.25], "Is rude.": [0, 0.75]}
    said = {"Is polite.": "FULLY_MET", "Is rude.": "UNMET"}
    run = of_rubric([POLITE, RUDE], votes, said)
    first, second = judges_of(run)

    assert verdicts(run, first, found()) == [(True, True, None)]
    assert verdicts(run, second, found()) == [(False, True, None)]


def test_people_who_judged_one_point_of_two_have_not():
    run = of_rubric([POLITE, RUDE], {"Is polite.": [1], "Is rude.": [0]}, {"Is polite.": "UNMET"})

    assert verdicts(run, judges_of(run)[0], found()) == []


@pytest.mark.parametrize(("check", "passes"), [(1, True), (0, False)])
def test_what_a_check_found_holds_for_judges_and_for_people(check, passes):
    votes = {"Is polite.": [0.75], "contains": [check]}
    run = of_rubric([POLITE, CHECK], votes, {"Is polite.": "MOSTLY_MET"})

    assert verdicts(run, judges_of(run)[0], found()) == [(passes, passes, None)]


# The page ----------------------------------------------------------------------------------------


def calibrated(**fields):
    """A run of six answers of three issues: one false alarm, one fault let through."""
    tests = [make_test(issue=issue) for issue in (make_issue(), make_issue(), make_issue())]
    tests += [make_test(issue=test.issue) for test in tests]
    run = judged([1], [1], [1], [0], [0], [1], tests=tests)
    for result, option in zip(results_of(run), "111100", strict=True):
        say(result, option, **fields)
    return run


def test_the_matrix_counts_verdicts():
    calibrated(**DRAWN)
    rows = cells(page(), "confusion")

    assert [(row["judge"], row["humans"], row["n"].value) for row in rows] == [
        ("passed", "passed", 3),
        ("passed", "failed", 1),
        ("failed", "passed", 1),
        ("failed", "failed", 1),
    ]
    assert rows[0]["share"] == 0.5
    assert rows[0]["of_humans"] == 0.75


def test_each_cell_opens_its_answers(client):
    run = calibrated(**DRAWN)
    rows = cells(page(), "confusion")
    client.force_login(make_user("superuser"))
    for row in rows:
        html = client.get(row["open"].url + "&compute=1").content.decode()
        assert html.count(">result ") == row["n"].value
    false_alarm = cells(page(cell="false_fail"), "answers")
    assert [row["result"].text for row in false_alarm] == [f"result {results_of(run)[3].pk}"]


def test_without_a_cell_all_answers_on_which_they_differ_are_listed():
    run = calibrated()
    listed = cells(page(), "answers")

    expected = [results_of(run)[5].pk, results_of(run)[3].pk]
    assert [row["result"].text for row in listed] == [f"result {pk}" for pk in expected]


def test_answers_to_sealed_tests_are_counted_and_not_opened():
    run = judged([1], [0], tests=[make_test(sealed=True), make_test()])
    for result in results_of(run):
        say(result, "1")
    open_cell = {"cell": "true_pass"}
    (mine,) = cells(page(make_user("viewer"), **open_cell), "answers")
    (theirs,) = cells(page(make_user("annotator"), **open_cell), "answers")

    assert mine["result"].url == ""
    assert theirs["result"].url == reverse("admin:runs_result_change", args=[results_of(run)[0].pk])


def test_a_selected_sample_has_a_warning_and_corrects_no_rate():
    calibrated()
    document = page(party="judge-999999")
    warnings, (row,) = " ".join(document.warnings), cells(document, "corrected")

    assert "No answer was drawn at random" in warnings
    assert "A selected sample" in warnings
    assert row["corrected"] is None
    assert "drawn at random" in row["why_not"]
    assert "There is no judge or jury 'judge-999999'" in warnings
    assert document.table("confusion").rows


def test_the_random_sample_is_shown_first_and_apart():
    calibrated(**DRAWN)
    say(results_of(judged([1]))[0], "0")
    document = page()

    assert document.table("random").rows[0][1].n == 6
    assert (
        sum(row["accuracy"].n for row in cells(document, "all") if "together" in row["judge"].text)
        == 7
    )
    assert "A selected sample" not in " ".join(document.warnings)
    assert "A selected sample" in " ".join(page(sample=Sample.ALL.value).warnings)


def test_a_pass_rate_is_corrected_beside_the_raw_one():
    run = calibrated(**DRAWN)
    (row,) = cells(page(), "corrected")

    # p = 4/6, se = 3/4, sp = 1/2: (4/6 + 1/2 - 1) / (3/4 + 1/2 - 1) = (1/6) / (1/4).
    assert (row["raw"].passed, row["raw"].n) == (4, 6)
    assert row["corrected"] == pytest.approx(2 / 3)
    assert row["difference"] == pytest.approx(0)
    assert row["run"].text == str(run)


def test_the_raw_rate_has_the_interval_of_the_runs_page():
    tests = [make_test(f"{n}?", issue=make_issue(title=f"{n}")) for n in range(6) for _ in "ab"]
    run = judged(*[[1]] * 4, *[[0]] * 8, tests=tests)
    (row,) = cells(page(), "corrected")

    assert row["raw"] == run_report(run, Filters(), reader=make_user("viewer")).rate
    assert row["raw"].accounts_for_issues


def test_the_raw_rate_is_the_judges_own_whatever_people_overrode():
    run = judged([1], [0], [0])
    for result in results_of(run):
        say(result, "1")
    (row,) = cells(page(), "corrected")

    assert run.results.filter(outcome="passed").count() == 3
    assert row["raw"].passed == 1


def test_a_judge_can_be_looked_at_instead_of_its_jury():
    run = judged([1, 0], [1, 1])
    for result in results_of(run):
        say(result, "1")
    second = judges_of(run)[1]
    link = next(row["judge"] for row in cells(page(), "all") if second in row["judge"].url)

    assert isinstance(link, Link)
    assert [row["n"].value for row in cells(page(party=second), "confusion")] == [1, 0, 1, 0]


def test_who_may_improve_a_judge_is_led_there():
    run = judged([1, 0], [1, 1])
    for result in results_of(run):
        say(result, "1")
    party = judges_of(run)[0]
    (way,) = (f for f in page(make_user("maintainer"), party=party).facts if f.name == "improve")
    judge = current(run).jury["judges"][0]["judge"]

    assert way.url == f"{reverse('admin:tuning_tuning_add')}?judge={judge}"
    assert "improve" not in [fact.name for fact in page(party=party).facts]
    jury = jury_key(current(run))
    assert "improve" not in [f.name for f in page(make_user("maintainer"), party=jury).facts]


def test_the_first_request_computes_nothing(client):
    calibrated()
    client.force_login(make_user("superuser"))
    url = reverse("reports:judge_reliability")
    html = client.get(url).content.decode()

    assert 'data-pending="1"' in html
    assert "self-selected" in html
    assert 'data-pending="0"' in client.get(url, {"compute": "1"}).content.decode()
    assert 'data-pending="0"' in client.get(url).content.decode()


def test_without_evaluations_the_page_explains_how_to_start():
    assert "Open results and give your own verdict" in " ".join(page().sentences)
