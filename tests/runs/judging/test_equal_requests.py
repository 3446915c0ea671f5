"""A verdict is taken where a judge would be asked word for word what it was asked before."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from evalhub.models import Call, CallRole
from issues.judge_templates.lifecycle import load_builtin_templates
from issues.models import TemplateExample, TemplateState, Test
from reports.run.page import document_of_run
from reports.run.query import flaky_tests_of, run_report
from runs.comparison.scoring_versions import VERSIONS, Part
from runs.judging.sent_prompts import prompt_of
from runs.launching.estimate import estimate
from runs.launching.launch_options import read_spec
from runs.launching.launch_selection import select
from runs.lifecycle import control
from runs.lifecycle.deletion import delete_run
from runs.models import Judge, Judgment, ResultScore
from runs.result_list.filters import Filters
from runs.scoring.agreement import agreement_in
from tests.factories import make_jury, make_run, make_template, make_test, make_user
from tests.provider import failure, is_judge, prompt, verdict

pytestmark = pytest.mark.django_db(transaction=True)

TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}


@pytest.fixture
def launched(provider, model_at, work):
    """Makes runs of one model, a worker having answered and judged them; counts what was asked."""
    judges = [model_at(input_usd_per_mtok=1, output_usd_per_mtok=1) for _ in range(2)]
    model, jury = model_at(), make_jury(*judges)
    says = {"judge": lambda request: verdict(1), "answer": lambda request: "Four."}
    provider.script = lambda request: says["judge" if is_judge(request) else "answer"](request)

    def make(release, *tests, **fields):
        provider.clear()
        fields = {"model": model, "jury": jury, "takes_known_verdicts": True} | fields
        run = make_run(*tests, release=release, **fields)
        work()
        run.refresh_from_db()
        run.asked = sum(map(is_judge, provider.requests))
        return run

    make.says = says
    return make


def taken(run):
    return Judgment.objects.filter(judge_run__run=run, taken_from__isnull=False)


def values(run):
    rows = Judgment.objects.filter(judge_run__run=run).order_by("result", "judge", "sample")
    return list(rows.values_list("option", "value", "justification", "call", "state", "provenance"))


def test_equal_answers_of_another_release_ask_no_judge(launched):
    tests = [make_test("2 + 2?"), make_test("3 + 1?", criteria=[{"text": "Polite."}])]
    first = launched("1.0", *tests)
    again = launched("1.1", *tests)

    assert (first.asked, again.asked) == (4, 0)
    assert values(again) == values(first)
    assert taken(again).count() == 4
    assert list(again.results.values_list("passed", "score")) == [(True, 1.0)] * 2
    judge_run = again.judge_runs.get()
    assert judge_run.spent_usd == 0
    assert {
        *ResultScore.objects.filter(judge_run=judge_run).values_list("cost_usd", flat=True)
    } == {0}
    saved = Call.objects.filter(role=CallRole.JUDGE).values_list("cost_usd", flat=True)
    counted = judge_run.statistics["taken"]
    assert (counted["judgments"], Decimal(counted["saved_usd"])) == (4, sum(saved))
    report = run_report(again, Filters(), reader=make_user("superuser"))
    assert "4 of 4 verdicts were taken" in " ".join(document_of_run(report).sentences)

    third = launched("1.2", *tests)
    assert {*taken(third).values_list("taken_from", flat=True)} == {
        *Judgment.objects.filter(judge_run__run=first).values_list("pk", flat=True)
    }


def test_what_measures_judges_counts_each_asked_judgment_once(launched):
    tests = [make_test(f"{n} + 1?") for n in range(4)]
    launched.says["judge"] = lambda request: verdict(int(request["model"][-1] in "02468"))
    first, again = launched("1.0", *tests), launched("1.1", *tests)

    before, after = (run.judge_runs.get().statistics for run in (first, again))
    assert agreement_in(before).units == 4
    assert (after["scales"], after["judges"]) == ({}, {})
    assert again.judge_runs.get().result_scores.filter(answered=2).count() == 4


def test_what_is_saved_is_the_cost_of_tries_and_repairs_too(launched, model_at):
    said = iter([failure(500, "busy"), "no verdict"])
    launched.says["judge"] = lambda request: next(said, verdict(1))
    test, jury = make_test(), make_jury(model_at(input_usd_per_mtok=1, output_usd_per_mtok=1))
    first, again = (launched(release, test, jury=jury) for release in ("1.0", "1.1"))

    saved = Decimal(again.judge_runs.get().statistics["taken"]["saved_usd"])
    assert saved == first.judge_runs.get().spent_usd
    assert Call.objects.exclude(role=CallRole.CANDIDATE).count() == 3
    copy = taken(again).get()
    assert copy.call.role == CallRole.REPAIR
    assert prompt_of(copy, reader=make_user("superuser")).matches


def test_judges_that_ask_alike_keep_their_own_verdicts_and_further_samples_ask(launched, model_at):
    model, test = model_at(), make_test(criteria=[{"text": "Polite."}])
    jury, thrice = make_jury(), make_jury()
    load_builtin_templates()
    own = [make_template(), make_template()]
    jury.judges.set(Judge.objects.given(model, template=one) for one in own)
    thrice.judges.set([Judge.objects.given(model, template=own[0], samples=3)])
    said = iter(["FULLY_MET", "UNMET"])
    launched.says["judge"] = lambda request: verdict(next(said, "FULLY_MET"))
    first, again = launched("1.0", test, jury=jury), launched("1.1", test, jury=jury)

    assert (first.asked, again.asked) == (2, 0)
    assert values(again) == values(first)
    assert launched("1.2", test, jury=thrice).asked == 2


def changed_guidelines(test, monkeypatch):
    Test.objects.filter(pk=test.pk).update(guidelines="The answer is 4!")


def changed_question(test, monkeypatch):
    messages = [{"role": "user", "content": "What is 2 + 2 ?"}]
    Test.objects.filter(pk=test.pk).update(messages=messages)


def changed_tool(test, monkeypatch):
    Test.objects.filter(pk=test.pk).update(tools=[TOOL])


def changed_example(test, monkeypatch):
    template = make_template(state=TemplateState.DRAFT)
    shown = {"input": "1?", "output": "1", "option": "1", "justification": "Right."}
    TemplateExample.objects.create(template=template, **shown)
    type(template).objects.filter(pk=template.pk).update(state=TemplateState.PUBLISHED)
    Test.objects.filter(pk=test.pk).update(template=template)


def changed_version(test, monkeypatch):
    monkeypatch.setitem(VERSIONS, Part.VERDICT, 2)


@pytest.mark.parametrize(
    "change",
    [changed_guidelines, changed_question, changed_tool, changed_example, changed_version],
)
def test_one_changed_character_asks_again(launched, monkeypatch, change):
    test = make_test()
    launched("1.0", test)
    change(test, monkeypatch)
    assert launched("1.1", Test.objects.get(pk=test.pk)).asked == 2


def test_another_parameter_answer_or_age_asks_again(launched, model_at, settings):
    test, jury = make_test(), make_jury(model_at())
    launched("1.0", test, jury=jury)
    judge = jury.judges.get()
    judge.language_model.params = {"top_p": 0.9}
    judge.language_model.save()
    assert launched("1.1", test, jury=jury).asked == 1
    launched.says["answer"] = lambda request: "Four!"
    assert launched("1.2", test, jury=jury).asked == 1
    assert launched("1.3", test, jury=jury).asked == 0
    Call.objects.update(started_at=timezone.now() - timedelta(days=31))
    assert launched("1.4", test, jury=jury).asked == 1


def test_attempts_of_one_release_choices_and_rejudging_ask_anew(launched, provider, work):
    test = make_test()
    first = launched("1.0", test)
    assert launched("1.0", test).asked == 2
    assert launched("1.0", test, variant_key="other").asked == 0
    # Each verdict that was asked goes to one attempt.
    assert [launched("2.0", test).asked for _ in range(4)] == [0, 0, 2, 2]
    assert launched("1.1", test, takes_known_verdicts=False).asked == 2
    provider.clear()
    control.rejudge(first, None, by=None)
    work()
    assert sum(map(is_judge, provider.requests)) == 2


def test_repeats_keep_their_own_verdicts_and_no_test_is_flaky_by_them(launched, provider):
    test, reader = make_test(), make_user("superuser")
    seen = []

    def split(request):
        seen.append(request)
        return verdict(int(len(seen) > 2))

    launched.says["judge"] = split
    first = launched("1.0", test, repeats=2)
    again = launched("1.1", test, repeats=2)

    assert again.asked == 0
    assert values(again) == values(first)
    outcomes = [
        list(run.results.order_by("repeat").values_list("passed", flat=True))
        for run in (first, again)
    ]
    assert outcomes[0] == outcomes[1]
    assert flaky_tests_of(again, reader).total == 0


def test_nothing_is_taken_of_failed_sealed_or_unreadable_verdicts(launched):
    test, sealed = make_test("2 + 2?"), make_test("3 + 3?", sealed=True)
    launched.says["judge"] = lambda request: (
        "no verdict" if "3 + 3" in prompt(request) else verdict(1)
    )
    launched("1.0", test, sealed)
    launched.says["judge"] = lambda request: verdict(1)
    user = make_user("maintainer")
    assert launched("1.1", test, sealed, requested_by=user).asked == 2  # those that failed
    launched("1.2", sealed)
    again = launched("1.3", sealed, requested_by=make_user("viewer"))
    assert again.asked == 2
    allowed = launched("1.4", sealed, requested_by=make_user("superuser"))
    assert allowed.asked == 0
    readable = Judgment.objects.readable_by(make_user("viewer"))
    assert not readable.filter(judge_run__run=allowed).exists()


def test_a_deleted_source_changes_nothing_and_is_asked_again(launched):
    test = make_test()
    first, again = launched("1.0", test), launched("1.1", test)
    before = values(again)

    delete_run(first)

    assert values(again) == before
    assert again.results.get().passed
    assert launched("1.2", test).asked == 2


def test_the_launch_shows_the_share_that_was_taken_last(launched):
    test = make_test()
    first = launched("1.0", test)
    launched("1.1", test)
    judges = [one["judge"] for one in first.judge_runs.get().jury["judges"]]
    models = {one.language_model for one in Judge.objects.filter(pk__in=judges)}
    spec = read_spec(
        {"label": "x", "tests": [test.pk], "models": [first.language_model_id]}
        | {"jury": make_jury(*models).pk}
    )
    shown = " ".join(estimate(spec, select(spec)).assumptions)
    assert "50%" in shown
    asked = spec.model_copy(update={"ask_judges_again": True})
    assert "known" not in " ".join(estimate(asked, select(asked)).assumptions)
