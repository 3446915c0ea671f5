"""Overriding on the result page by keys alone, and what goes wrong meanwhile."""

import pytest
from django.urls import reverse

from runs.models import HumanEvaluation, VerdictDraft
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from tests.factories import make_issue, make_test, make_user
from tests.runs.judged_runs import judged_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def results():
    """Three answers that the judges failed."""
    run = judged_run(*[make_test(f"Question {n}?") for n in range(3)], votes=(0, 0, 1))
    return list(run.results.order_by("pk"))


def url_of(row):
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def said():
    rows = HumanEvaluation.objects.order_by("pk")
    return list(rows.values_list("result", "option", "justification"))


@pytest.mark.journey
def test_agreement_and_disagreement_by_keys_alone(page, log_in, results):
    log_in(make_user("annotator"))
    page.goto(url_of(results[0]))
    assert page.locator("[name=option]:checked").count() == 0
    page.keyboard.press("Enter")
    page.wait_for_function("document.querySelector('[data-key]').validationMessage !== ''")
    message = page.locator("[data-key]").first.evaluate("field => field.validationMessage")
    assert message == "Choose p or f first."
    page.keyboard.press("Escape")

    with page.expect_navigation():
        page.keyboard.press("a")
    assert said() == [(results[0].pk, "0", "")]
    page.get_by_text("Saved: result").wait_for()

    page.keyboard.press("1")
    page.keyboard.type("It is right.")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert said()[1:] == [(results[1].pk, "1", "It is right.")]


def test_what_is_typed_outlives_the_page_the_network_and_the_session(page, log_in, results, faults):
    log_in(make_user("annotator"))
    page.goto(url_of(results[0]))
    page.keyboard.press("1")
    page.keyboard.type("Half a")
    page.get_by_text("draft saved").first.wait_for()
    page.reload()
    assert page.input_value("#evaluation [name=justification]") == "Half a"
    assert page.locator("[name=option]:checked").input_value() == "1"

    page.focus("#evaluation [name=justification]")
    page.keyboard.press("End")
    page.context.set_offline(True)
    page.keyboard.type(" sentence.")
    page.get_by_text("Cannot reach the server").wait_for()
    page.keyboard.press("Enter")
    with page.expect_navigation():
        page.context.set_offline(False)
    assert said() == [(results[0].pk, "1", "Half a sentence.")]
    assert not VerdictDraft.objects.exists()

    kept = page.context.cookies()
    page.context.clear_cookies()
    page.keyboard.press("2")
    page.keyboard.type("Said while logged out.")
    page.keyboard.press("Enter")
    page.get_by_text("You are logged out").wait_for()
    with page.expect_navigation():
        page.context.add_cookies(kept)
    assert said()[1:] == [(results[1].pk, "0", "Said while logged out.")]
    faults.clear()  # The browser says itself that it is offline.


def test_a_decision_made_meanwhile_is_shown_and_replaced_on_purpose(page, log_in, results):
    result = results[0]
    for option in "10":
        evaluate(result, HumanVerdict(option, "So."), by=make_user("annotator"))
    log_in(make_user("adjudicator"))
    page.goto(url_of(result))
    carla = make_user("adjudicator", username="carla")
    evaluate(result, HumanVerdict("1", "Yes.", kind="adjudication"), by=carla)
    page.keyboard.press("2")
    page.keyboard.type("It is wrong.")
    with page.expect_navigation():
        page.keyboard.press("Enter")

    page.get_by_text("carla resolved this dispute at").wait_for()
    assert page.input_value("#evaluation [name=justification]") == "It is wrong."
    assert HumanEvaluation.objects.latest("pk").annotator == carla
    page.get_by_label("Decide again").press("Space")
    page.focus("#evaluation [name=justification]")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert said()[-1] == (result.pk, "0", "It is wrong.")


def test_two_people_on_one_issue_choose_between_their_texts(page, log_in):
    issue = make_issue(description="Old.", generic_statement="Old.", severity="low")
    log_in(make_user("maintainer"))
    page.goto(url_of(issue))
    issue.description, issue.severity = "Anna's text.", "critical"
    issue.save()
    page.fill("[name=description]", "My text.")
    page.get_by_role("button", name="Save", exact=True).click()

    page.get_by_text("Changed since you opened it").wait_for()
    assert page.input_value("[name=description]") == "My text."
    assert page.input_value("[name=severity]") == "critical"
    texts = page.get_by_role("group", name="Description")
    texts.get_by_role("button", name="Use their text").click()
    assert page.input_value("[name=description]") == "Anna's text."
    texts.get_by_role("button", name="Use your text").click()
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Changed since you opened it").wait_for(state="detached")
    issue.refresh_from_db()
    assert (issue.description, issue.severity) == ("My text.", "critical")
