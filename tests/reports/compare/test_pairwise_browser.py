"""Pairs in a real browser: a person chooses by keys, and three answers are ranked by a judge."""

import asyncio
import threading

import pytest

from evalhub.llm import gateway
from evalhub.work.loop import Loop
from reports.documents.links import page_url
from runs.laboratory.pairwise.evaluations import order_for
from runs.laboratory.pairwise.models import PairEvaluation, PairwiseJudgeRun
from tests.browser import HEIGHTS, overflow_px, shoot, show
from tests.factories import make_issue, make_model, make_test, make_user
from tests.provider import Provider, prompt
from tests.runs.laboratory.pairwise.rows import answered_runs, prefers

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def fits(page, name):
    shoot(page, name)
    for width in HEIGHTS:
        show(page, width=width)
        assert overflow_px(page) <= 0, f"{name} at {width} px"
    show(page)


def chosen(person):
    return [row.choice for row in PairEvaluation.objects.filter(annotator=person)]


def test_a_person_judges_pairs_by_keys_with_undo(page, log_in, faults):
    runs = answered_runs("The first text.", "The second text.", tests=2)
    person = make_user("annotator")
    log_in(person)
    page.goto(page_url("compare", runs=runs, tab="pairwise"))
    page.get_by_role("link", name="Judge pairs yourself").click()
    page.get_by_role("group", name="Which is better?").wait_for()
    assert not any(run.label in page.content() for run in runs)
    fits(page, "pair")

    page.keyboard.press("a")
    page.keyboard.type("A shorter one")
    kept = page.context.cookies()
    page.context.clear_cookies()
    page.keyboard.press("Enter")
    page.get_by_text("You are logged out").wait_for()
    with page.expect_navigation():
        page.context.add_cookies(kept)
    evaluation = PairEvaluation.objects.get()
    order = order_for((evaluation.pair.first_id, evaluation.pair.second_id), person)
    assert evaluation.choice == ("second" if order else "first")
    assert evaluation.justification == "A shorter one"
    better = evaluation.pair.second if order else evaluation.pair.first
    page.get_by_text(f"You find {better.run} better.").wait_for()

    with page.expect_navigation():
        page.keyboard.press("u")
    page.keyboard.press("e")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.get_by_text("You find them equal").wait_for()
    assert chosen(person)[1:] == ["", "tie"]

    page.keyboard.press("b")
    page.keyboard.press("Enter")
    page.get_by_text("No pairs are left for you").wait_for()
    page.go_back()
    page.reload()
    assert all(page.get_by_role("heading", name=str(run)).count() for run in runs)
    fits(page, "pair-chosen")
    page.goto(page_url("compare", runs=runs, tab="pairwise"))
    assert page.get_by_text("Human verdicts only.").count() == 1
    faults.clear()  # The browser says itself that it was refused.


@pytest.fixture
def provider(settings):
    with Provider(script=prefers("good", "fair", "bad")) as provider:
        settings.EVALHUB_ALLOWED_ADDRESSES = [f"127.0.0.1:{provider.port}"]
        yield provider


def test_three_answers_are_ranked_by_a_judge(page, log_in, provider):
    judge = make_model(name="Judge", api_base=provider.base_url, timeout_s=120)
    tests = [make_test(f"Question {n}?", issue=make_issue()) for n in range(8)]
    runs = answered_runs("bad", "good", "fair", asked=tests)
    log_in(make_user("maintainer"))
    page.goto(page_url("compare", runs=runs, tab="pairwise"))
    page.get_by_text("None of 24 pairs has been judged yet.").wait_for()
    page.get_by_role("link", name="Have a model judge").click()
    page.get_by_label("Judge", exact=True).select_option(str(judge.pk))
    page.get_by_label("Criterion from the library").select_option(label="Helps more v1")
    page.get_by_role("button", name="Estimate").click()
    fits(page, "pairwise-start")
    page.get_by_role("button", name="Start (48 calls)").click()
    page.get_by_text("0 of 48 judged").wait_for()

    work_off()

    page.get_by_text("48 of 48 judged").wait_for()
    fits(page, "pairwise-judge-run")
    assert len(provider.requests) == 48
    assert "Which answer helps the reader more" in prompt(provider.requests[0])
    assert PairwiseJudgeRun.objects.get().state == "done"
    page.get_by_role("link", name="Open win rates").click()
    page.wait_for_url("**/compare/?**")
    page.goto(f"{page.url}&compute=1")
    rows = page.locator("[data-table=ranking] tbody tr").all_inner_texts()
    places = [[row.split("\t")[column] for column in (1, 2)] for row in rows]
    assert places == [["1", str(runs[1])], ["2", str(runs[2])], ["3", str(runs[0])]]
    assert page.get_by_text("is significantly first of 3").count() == 1
    fits(page, "pairwise-ranking")


def work_off():
    """Do all that is waiting, as a worker would, beside the browser's loop in this thread."""

    async def once():
        try:
            await Loop(seconds=900).run()
        finally:
            await gateway.close()

    worker = threading.Thread(target=lambda: asyncio.run(once()))
    worker.start()
    worker.join()
