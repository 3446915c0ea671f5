import io
import re
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from evalhub.models import BatchState, LanguageModel
from issues.models import TestState
from runs.management.commands import evaluate
from runs.models import DEFAULT_APPROACHES, Jury, Run, Suite
from tests import provider as scripted
from tests.factories import make_issue, make_jury, make_model, make_test
from tests.provider import verdict

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def work_here(monkeypatch, work):
    """The command does its work as a worker would, but on an event loop of the test's own."""
    monkeypatch.setattr(evaluate.tasks, "work", work)
    monkeypatch.setattr(evaluate, "POLL_S", 0.02)


def run_command(*arguments):
    """Output and exit code of `manage.py evaluate`."""
    out = io.StringIO()
    try:
        call_command("evaluate", *arguments, stdout=out)
    except SystemExit as error:
        return out.getvalue(), error.code
    return out.getvalue(), 0


def refusal(*arguments):
    with pytest.raises(CommandError) as refused:
        call_command("evaluate", *arguments, stdout=io.StringIO())
    return str(refused.value)


def judge_or_answer(request):
    return verdict(1) if "response_format" in request else "Four."


def test_runs_are_worked_off_and_reported_with_n(provider, model_at, work_here):
    provider.script = judge_or_answer
    model_at(name="candidate", input_usd_per_mtok=Decimal(1), output_usd_per_mtok=Decimal(1))
    make_jury(model_at(), name="jury")
    tests = [make_test(f"Question {n}") for n in range(3)]
    numbers = f"{tests[0].pk}-{tests[-1].pk}"

    output, code = run_command(
        *("--model", "candidate", "--tests", numbers, "--jury", "jury", "--work")
    )

    assert code == 0
    row = re.sub(r"\s+", " ", output)
    assert "100%" in row
    assert "3/3" in row
    # Wilson's interval of 3 of 3 begins at 0.44.
    assert "44–" in row
    assert Run.objects.get().state == BatchState.DONE


def test_a_run_that_fails_exits_with_one_and_says_why(provider, model_at, work_here):
    provider.script = scripted.sequence(scripted.UNAUTHORIZED)
    model_at(name="candidate")
    test = make_test()

    output, code = run_command("--model", "candidate", "--tests", str(test.pk), "--work")

    assert code == 1
    assert "failed" in output
    assert "key" in output


def test_without_waiting_it_only_launches():
    make_model(name="candidate")
    suite = Suite.objects.create(name="nightly")
    suite.tests.add(make_test())

    output, code = run_command("--model", "candidate", "--suite", "nightly", "--no-wait")

    run = Run.objects.get()
    assert (code, run.state, run.suite) == (0, BatchState.LIVE, suite)
    assert f"Launched run {run.pk}" in output


def test_options_reach_the_run():
    make_model(name="one", input_usd_per_mtok=1, output_usd_per_mtok=1)
    issue = make_issue(tags=("maths",))
    make_test(issue=issue)

    run_command(
        *("--model", "one", "--tags", "maths", "--no-wait", "--label", "Weekly"),
        *("--release", "2.1", "--repeats", "2", "--cost-limit", "0.5"),
        *("--system-prompt", "Be brief.", "--param", "seed=7", "--param", "mode=fast"),
    )

    run = Run.objects.get()
    assert (run.label, run.release, run.repeats) == ("Weekly", "2.1", 2)
    assert run.cost_limit_usd == Decimal("0.5")
    assert run.system_prompt == "Be brief."
    assert run.params == {"seed": 7, "mode": "fast"}


def test_each_temperature_makes_a_run_and_similarity_has_its_share():
    make_model(name="one")
    embedder = make_model(name="near")
    test = make_test()

    run_command(
        *("--model", "one", "--tests", str(test.pk), "--no-wait"),
        *("--temperature", "0", "--temperature", "0.7"),
        *("--similarity-weight", "0.2", "--similarity-model", "near", "--score-by-similarity"),
    )

    runs = list(Run.objects.order_by("pk"))
    assert [run.params for run in runs] == [{"temperature": 0}, {"temperature": 0.7}]
    assert {(run.similarity_weight, run.score_by_similarity) for run in runs} == {(0.2, True)}
    assert [run.embedder() for run in runs] == [embedder.endpoint()] * 2


JUDGES = ("--judge", "strict", "--judge", "mild")


def launch_judged_by(*arguments):
    """The judging of a launch with these options; models of the names used here are there."""
    for name in ("one", "strict", "mild", "spare"):
        if not LanguageModel.objects.filter(name=name).exists():
            make_model(name=name)
    run_command("--model", "one", "--tests", str(make_test().pk), "--no-wait", *arguments)
    return Run.objects.latest("pk").judge_runs.get()


def test_judges_may_be_named_instead_of_a_jury():
    judge_run = launch_judged_by(*JUDGES, "--backup", "spare")

    asked = [(judge["name"], judge["approach"]) for judge in judge_run.jury["judges"]]
    assert len(asked) == 2 * len(DEFAULT_APPROACHES)
    assert ("strict (holistic)", "holistic") in asked
    assert judge_run.jury["backup"]["name"] == "spare"
    assert judge_run.jury_name == "strict, mild"


def test_options_say_how_judges_are_asked():
    options = ("--approach", "standard", "--judge-temperature", "0.5", "--judge-samples", "3")
    method = ("--judge-method", "self-critique", "--judge-role", "You are a nurse.")
    judge_run = launch_judged_by("--judge", "strict", *options, *method, "--judge-param", "seed=7")

    (judge,) = judge_run.jury["judges"]
    assert (judge["approach"], judge["samples"]) == ("standard", 3)
    assert judge["params"] == {"temperature": 0.5, "seed": 7}
    assert (judge["method"], judge["role"]) == ("self_critique", "You are a nurse.")


def test_the_same_judges_are_the_same_jury():
    first, second = launch_judged_by(*JUDGES), launch_judged_by(*JUDGES)

    assert first.jury["judges"] == second.jury["judges"]
    assert Jury.objects.count() == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--judge", "nobody"), "There is no model called 'nobody'."),
        (("--judge", "one", "--jury", "jury"), "--jury and --judge both name judges"),
        (("--backup", "one"), "--backup needs judges: name them with --judge."),
        (("--judge", "strict", "--judge-samples", "99"), "from 1 to 25 samples"),
        (("--judge", "strict", "--judge-temperature", "9"), "9 is not from 0 to 5"),
        (("--judge", "strict", "--judge-param", "api_key=x"), "api_key"),
        (("--judge", "strict", "--backup", "strict"), "strict is one of the judges"),
        (("--judge", "one"), "one would judge its own answers"),
        (("--temperature", "0", "--param", "temperature=1"), "leave one of them out"),
        (("--similarity-weight", "2"), "similarity_weight: Input should be less than or equal"),
    ],
)
def test_judges_that_cannot_be_are_refused_and_leave_no_jury(arguments, words):
    make_model(name="one")
    make_jury(make_model(name="strict"), name="jury")

    assert words in refusal("--model", "one", "--tests", str(make_test().pk), *arguments)
    assert Jury.objects.count() == 1
    assert not Run.objects.exists()


@pytest.fixture
def suite():
    suite = Suite.objects.create(
        name="nightly",
        defaults={"models": [make_model(name="usual").pk], "temperatures": [0, 1], "repeats": 2},
    )
    suite.tests.add(make_test())
    return suite


def test_what_is_not_said_is_as_the_suite_has_it(suite):
    run_command("--suite", "nightly", "--no-wait", "--repeats", "3")

    runs = Run.objects.all()
    assert {(run.model_name, run.repeats, run.suite) for run in runs} == {("usual", 3, suite)}
    assert {run.params["temperature"] for run in runs} == {0, 1}


def test_a_suites_defaults_may_be_left_out(suite):
    make_model(name="other")

    run_command("--suite", "nightly", "--no-defaults", "--model", "other", "--no-wait")

    assert Run.objects.get().params == {}
    assert "Name a model" in refusal("--suite", "nightly", "--no-defaults")


def test_everything_that_is_wrong_is_told_at_once():
    make_model(name="known")

    told = refusal(
        *("--model", "unknown", "--jury", "nobody", "--tests", "x"),
        *("--issues", "999", "--param", "seed"),
    )

    assert "There is no model called 'unknown'. There is known." in told
    for part in ("nobody", "--tests: 'x'", "no issue 999", "--param 'seed'"):
        assert part in told


def test_a_refused_launch_exits_with_its_reasons():
    make_model(name="one")
    draft = make_test(state=TestState.DRAFT)

    assert "No test can run" in refusal("--model", "one", "--tests", str(draft.pk))


def test_a_person_is_told_when_nobody_works(monkeypatch):
    make_model(name="one")
    test = make_test()
    monkeypatch.setattr(evaluate, "HINT_AFTER_S", 0.0)

    def cancel_soon(seconds):
        Run.objects.update(state=BatchState.CANCELLED)
        Run.objects.get().judge_runs.update(state=BatchState.CANCELLED)

    monkeypatch.setattr(evaluate.time, "sleep", cancel_soon)
    output, code = run_command("--model", "one", "--tests", str(test.pk))

    assert "No worker is running" in output
    assert (code, "cancelled" in output) == (1, True)
