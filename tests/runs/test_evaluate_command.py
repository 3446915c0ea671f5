import io
import re
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from evalhub.models import BatchState
from issues.models import TestState
from runs.management.commands import evaluate
from runs.models import Run, Suite
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
        Run.objects.get().judgings.update(state=BatchState.CANCELLED)

    monkeypatch.setattr(evaluate.time, "sleep", cancel_soon)
    output, code = run_command("--model", "one", "--tests", str(test.pk))

    assert "No worker is at work" in output
    assert (code, "cancelled" in output) == (1, True)
