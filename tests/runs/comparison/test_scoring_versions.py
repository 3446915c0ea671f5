"""What EvalHub itself changed is no change of a model: versions of requests and readings.

`readings.json` has a digest of each stored reading. To accept a change that is meant, raise the
number of its part in `runs.comparison.scoring_versions` and run
`UPDATE_READINGS=1 python3 dev.py test tests/runs/comparison/test_scoring_versions.py -k readings`.
"""

import json
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from evalhub.llm.completion import Completion
from evalhub.llm.errors import CallError
from evalhub.llm.providers.openai_replies import chat_of
from evalhub.llm.verdicts.judge_replies import parse_label, parse_verdict
from evalhub.models import BatchState, Call, CallRole, ItemState
from evalhub.refusals import NotPossible
from evalhub.values.digest import digest
from issues.checks import Material
from issues.checks import run as run_check
from reports.compare.query import comparison_of, sides_of
from reports.compare.rule import Kind
from reports.gate.query import gate_result
from reports.run.page import document_of_run
from reports.run.query import run_report
from runs.comparison.comparability import comparability_of
from runs.comparison.scoring_versions import VERSIONS, Part, conflicts, merged, of_answer
from runs.judging.activation import set_active
from runs.lifecycle import control
from runs.models import NO_ANSWER, Answer, JudgeRun
from runs.result_list.filters import Filters
from tests.api import client_of
from tests.evalhub.llm.endpoints import make_endpoint
from tests.factories import make_jury, make_run, make_test, make_user
from tests.provider import failure, is_judge, verdict

HERE = Path(__file__).parent
GOLDEN = HERE / "readings.json"
ZOO = HERE.parents[1] / "evalhub" / "llm" / "zoo"
CONTAINS = {"check_name": "contains", "arguments": {"text": "four"}}


class Option(NamedTuple):
    label: str
    value: float


OPTIONS = [Option("bad", 0.0), Option("fair", 0.5), Option("good", 1.0)]
VERDICTS = (
    '{"justification": "Right.", "score": "good"}',
    'Sure!\n```json\n{"justification": "Right.", "score": 0.5}\n```\nThat is all.',
    '<think>{"justification": "a", "score": "bad"}</think>{"justification": "b", "score": "GOOD"}',
    'It may be bad.</think>\n{"justification": "b", "score": "fair"}',
    "<reflection>Well.</reflection><classification>fair</classification>",
    "{'justification': 'single', 'score': 'good',}",
    '{"justification": "a", "score": "bad"} {"justification": "b", "score": "good"}',
    '{"justification": "cut off", "sco',
    '{"justification": "7 of 10", "score": 7}',
    '{"justification": "$\\frac{1}{2}$", "score": "good"}',
)
LABELS = ("good", "**Good**.", "<think>bad</think> fair", "good or bad", "Verdict: good")
NUMBERS = (
    *("72", "It is 9,500.", "1.234,50 €", "0,75", "12 345", "1,00,000", "−5 °C", "$\\frac12$"),
    *("\\boxed{9{,}500}", "1'234.5", "12 %", "$1.5 million", "three"),
)
TEXTS = ("100\u202fkm", "don’t", "cafe\u0301", "state\u2011of\u2011the\u2011art", "Four.")


def readings() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {
        part: {} for part in (Part.REPLY, Part.REASONING, Part.VERDICT, Part.CHECK)
    }
    for file in sorted(ZOO.glob("*.json")):
        for reply in (one for one in json.loads(file.read_text()) if one["direct"]):
            body = reply["body"] if isinstance(reply["body"], str) else json.dumps(reply["body"])
            try:
                read, error = chat_of(make_endpoint(""), None, Completion(reply=body)), ""
            except CallError as raised:
                read, error = raised.completion or Completion(), raised.kind
            calls = list(read.tool_calls)
            shown = [error, read.refusal, calls, read.ending, read.error, read.documents]
            name = digest(body)[:8]
            found[Part.REPLY][name] = digest([*shown, read.text + read.reasoning])
            split = [read.text, read.reasoning, read.may_hold_reasoning]
            found[Part.REASONING][name] = digest(split)
    for parse, texts in ((parse_verdict, VERDICTS), (parse_label, LABELS)):
        for text in texts:
            found[Part.VERDICT][text] = digest(str(parse(text, OPTIONS)))
    for number in (72, 9500, 1234.5, 0.75, 12345, 100_000, -5, 0.5, 12):
        outcomes = [
            run_check("number_equals", {"value": number}, Material(text)) for text in NUMBERS
        ]
        found[Part.CHECK][f"number_equals {number}"] = digest([str(one.value) for one in outcomes])
    for text in ("100 km", "don't", "café", "state-of-the-art", "four"):
        outcomes = [run_check("contains", {"text": text}, Material(said)) for said in TEXTS]
        found[Part.CHECK][f"contains {text}"] = digest([str(one.value) for one in outcomes])
    return {part: {name: one[:8] for name, one in cases.items()} for part, cases in found.items()}


def test_a_reading_changes_only_with_its_version():
    stored = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    read = readings()
    for part, cases in read.items():
        before = stored.get(part, {"version": 0, "cases": {}})
        changed = [name for name, was in before["cases"].items() if cases.get(name) != was]
        is_raised = VERSIONS[part] > before["version"]
        assert not changed or is_raised, f"raise the version of {part.value!r}: {changed}"
        if not os.environ.get("UPDATE_READINGS"):
            assert before == {"version": VERSIONS[part], "cases": cases}, "UPDATE_READINGS=1"
        stored[part] = {"version": VERSIONS[part], "cases": cases}
    if os.environ.get("UPDATE_READINGS"):
        GOLDEN.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")


def test_only_what_took_part_in_both_scores_can_keep_them_apart():
    old, new = {"check": [1], "verdict": [1]}, {"check": [2]}
    assert conflicts(old, {"verdict": [1]}) == conflicts({}, new) == set()
    assert conflicts(old, new) == {"check"}
    mixed = merged([old, new])
    assert mixed == {"check": [1, 2], "verdict": [1]}
    assert conflicts(mixed, mixed) == {"check"}


def test_parameters_count_as_they_were_sent_to_the_same_model():
    sent = of_answer(["m", {"top_p": 1}], {"temperature": 0, "max_tokens": 9}, None)
    assert not conflicts(sent, of_answer(["m", {"top_p": 1}], {"temperature": 0}, {}))
    refused = of_answer(["m", {"top_p": 1}], {}, {"temperature": 0})
    assert len(conflicts(sent, refused)) == 1
    assert not conflicts(refused, of_answer(["other", {}], {"temperature": 0}, {}))


pytest_database = pytest.mark.django_db(transaction=True)


@pytest.fixture
def answered(provider, model_at, work):
    """Makes runs of one model and jury, a worker having answered and judged them."""
    provider.script = lambda request: verdict(1) if is_judge(request) else "Four, it is four."
    model, jury = model_at(params={"temperature": 0.5}), make_jury(model_at())
    tests = [make_test("2 + 2?"), make_test("3 + 1?", criteria=[CONTAINS])]

    def make(tests=tests, **fields):
        run = make_run(*tests, **{"model": model, "jury": jury} | fields)
        work()
        run.refresh_from_db()
        return run

    return make


def raised(monkeypatch, part):
    monkeypatch.setitem(VERSIONS, part, VERSIONS[part] + 1)


def kinds(first, second):
    compared = comparison_of(*sides_of([first, second]))
    return sorted(kind for one in compared.rows for kind in [one.kind] * one.times), compared


def judge_calls():
    return Call.objects.filter(role=CallRole.JUDGE).count()


def warnings(run):
    report = run_report(run, Filters(), reader=make_user("superuser"))
    return " ".join(document_of_run(report).warnings)


@pytest_database
def test_checks_run_by_another_version_are_told_and_run_again_for_nothing(
    answered, work, monkeypatch
):
    before = answered()
    raised(monkeypatch, Part.CHECK)
    run = answered()

    assert "checks" in comparability_of(before, run).cause
    found, compared = kinds(before, run)
    assert found == [Kind.NOT_COMPARABLE, Kind.SAME]
    assert compared.is_conclusive
    assert "1 test not compared" in " ".join(compared.not_compared)
    line = next(one for one in gate_result(run, before).lines if one.rule == "comparable")
    assert (line.verdict, line.value) == ("cannot_tell", 0.5)
    assert "checks" in warnings(before)
    assert "checks" not in warnings(run)

    asked = judge_calls()
    again = control.run_checks(before, by=None)
    work()
    first, again = before.judge_runs.order_by("number")
    assert judge_calls() == asked
    assert (again.state, again.spent_usd, first.is_active) == (BatchState.DONE, 0, True)
    kept = ("result", "criterion", "judge", "value", "option", "justification", "call")
    rows = [one.judgments.filter(judge__isnull=False) for one in (first, again)]
    assert rows[0].count() == 1
    assert list(rows[0].values(*kept, "provenance")) == list(rows[1].values(*kept, "provenance"))

    set_active(again)
    assert comparability_of(before, run)
    assert kinds(before, run)[0] == [Kind.SAME, Kind.SAME]
    assert "checks" not in warnings(before)


@pytest_database
def test_answers_of_another_version_are_apart_and_no_judge_mends_it(answered, monkeypatch):
    before = answered()
    raised(monkeypatch, Part.REASONING)
    run = answered()

    found, compared = kinds(before, run)
    assert found == [Kind.NOT_COMPARABLE] * 2
    assert not compared.is_conclusive
    assert not compared.comparable.is_repairable
    assert "EvalHub" in compared.comparable.cause
    assert "EvalHub" in warnings(before)


@pytest_database
def test_judges_of_another_version_are_told_and_asked_again(answered, work, monkeypatch):
    before, other = answered(), answered()
    assert kinds(before, other)[0] == [Kind.SAME] * 2
    raised(monkeypatch, Part.JUDGE_PROMPT)
    run = answered()

    found, compared = kinds(before, run)
    assert found == [Kind.NOT_COMPARABLE, Kind.SAME]
    assert compared.apart.is_repairable
    assert compared.apart.to_rejudge(before, run) == (before, run)
    assert "Judged by an earlier version" in warnings(before)
    made = control.rejudge_like(before, run, by=None)
    work()
    assert made.number == 2
    assert kinds(before, run)[0] == [Kind.SAME] * 2

    people = other.results.exclude(revision__criteria__check_name="contains").get()
    criterion = people.revision.criteria.get()
    people.evaluations.create(
        criterion=criterion, annotator=make_user("annotator"), kind="evaluation", value=1
    )
    people.is_overridden = True
    people.save()
    assert kinds(other, run)[0] == [Kind.SAME] * 2


@pytest_database
def test_a_judge_run_that_goes_on_under_a_newer_version_says_so(answered, work, monkeypatch):
    run = answered(tests=[make_test("1 + 1?"), make_test("2 + 1?")])
    judge_run = run.judge_runs.get()
    stopped = run.results.earliest("pk")
    judge_run.judgments.filter(result=stopped).delete()
    judge_run.result_scores.filter(result=stopped).update(state=ItemState.CANCELLED)
    JudgeRun.objects.filter(pk=judge_run.pk).update(state=BatchState.CANCELLED)
    raised(monkeypatch, Part.VERDICT)

    control.resume_run(run)
    assert "an earlier version" in warnings(run)
    work()

    assert "upgraded in the middle" in warnings(run)
    assert control.judged_like(run, run, judge_run.jury) is None


@pytest_database
def test_parameters_that_were_really_sent_keep_scores_apart(answered, provider, model_at):
    before = answered()
    usual = provider.script

    def refusing(request):
        if "temperature" in request and not is_judge(request):
            return failure(400, "Unsupported parameter: 'temperature' is not supported.")
        return usual(request)

    provider.script = refusing
    run = answered()
    assert Answer.objects.filter(result__run=run).count() == 2
    assert "parameters" in comparability_of(before, run).cause
    assert comparability_of(before, answered(model=model_at(params={"temperature": 0.5})))


@pytest_database
def test_judges_that_were_sent_other_parameters_are_asked_again(answered, provider, work):
    before = answered(tests=[make_test()])
    usual = provider.script

    def refusing(request):
        if "temperature" in request and is_judge(request):
            return failure(400, "Unsupported parameter: 'temperature' is not supported.")
        return usual(request)

    provider.script = refusing
    run = answered(tests=[make_test()])
    found = comparability_of(before, run)
    assert "their judges" in found.cause
    judged, like = found.to_rejudge(before, run)

    for n_judge_runs in (2, 2):
        control.rejudge_like(judged, like, by=None)
        work()
        assert (judged, judged.judge_runs.count()) == (before, n_judge_runs)
        assert comparability_of(before, run)


@pytest_database
def test_results_without_an_answer_or_a_score_end_a_further_judge_run(answered, provider, work):
    tests = [make_test("1 + 1?"), make_test("3 + 1?"), make_test("4?", criteria=[CONTAINS])]
    run = answered(tests=tests)
    unanswered, unscored, _ = run.results.order_by("pk")
    run.results.filter(pk=unanswered.pk).update(state=ItemState.ERROR)
    judge_run = run.judge_runs.get()
    judge_run.judgments.filter(result=unscored).delete()
    broken = judge_run.result_scores.filter(result__in=[unanswered, unscored])
    broken.update(state=ItemState.ERROR, error_kind="internal", score=None)
    n = provider.total

    checked = control.run_checks(run, by=None)
    work()
    checked.refresh_from_db()
    assert (checked.state, provider.total) == (BatchState.DONE, n)
    set_active(checked)
    assert run.results.get(pk=unscored.pk).score is None
    assert control.retryable_of([run])[run.pk] == 2

    judged = control.rejudge(run, None, by=None)
    work()
    judged.refresh_from_db()
    assert judged.state == BatchState.DONE
    assert judged.result_scores.get(result=unanswered).error_kind == NO_ANSWER


@pytest_database
def test_checks_are_run_again_over_the_api_where_there_are_any(answered, work):
    run = answered()
    client = client_of(make_user("maintainer"))
    path = f"/api/v1/runs/{run.pk}/run_checks/"

    made = client.post(path)

    assert (made.status_code, made.json()["is_active"]) == (201, False)
    work()
    assert run.judge_runs.get(number=2).state == BatchState.DONE
    with pytest.raises(NotPossible, match="no checks"):
        control.run_checks(answered(tests=[make_test()]), by=None)
