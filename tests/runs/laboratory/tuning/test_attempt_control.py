from decimal import Decimal

import pytest

from evalhub.models import BatchState, Call, Exposure, ItemState
from evalhub.refusals import NotPossible, Refused
from evalhub.work.control import cancel, resume, retry_errors
from issues.judge_templates.lifecycle import load_builtin_templates
from issues.models import JudgeTemplate, TemplateExample
from runs.laboratory.tuning.attempt_control import estimate, start_attempt
from runs.laboratory.tuning.draft import completed_attempt, publish_draft
from runs.laboratory.tuning.figures import failures, tuning_figures
from runs.laboratory.tuning.labelled_answers import Selection
from runs.laboratory.tuning.models import AttemptJudgment, Split
from runs.laboratory.tuning.start import draft_of, start
from runs.models import Judgment, Result, ResultScore
from tests.factories import make_jury, make_test, make_user
from tests.provider import prompt, verdict
from tests.runs.laboratory.tuning.rows import MIXED, say, scored, tuning_of
from tests.runs.rubric_runs import rubric_run

pytestmark = pytest.mark.django_db(transaction=True)

STRICT = "Be strict."


@pytest.fixture
def run(model_at):
    return scored(MIXED, model=model_at())


@pytest.fixture
def tuning(run):
    return tuning_of(run, seed=1)


@pytest.fixture
def draft(tuning):
    return strict(draft_of(tuning, by=None))


def strict(draft, words=STRICT):
    draft.text = f"{words}\n\n{draft.text}"
    draft.save()
    return draft


def annotators_of(tuning):
    """Return the human verdicts by the text of the answer."""
    rows = tuning.examples.select_related("result")
    return {f"Answer {row.result.test_id}.": int(row.passed) for row in rows}


def right_if_strict(tuning):
    """Script a judge that agrees with annotators once its prompt is strict, and else passes all."""
    annotators = annotators_of(tuning)

    def script(request):
        text = prompt(request)
        right = next(value for answer, value in annotators.items() if answer in text)
        return verdict(right if STRICT in text else 1, "so")

    return script


@pytest.fixture
def attempted(provider, tuning, draft, work):
    """Attempts the draft, by default with the judge that is right if it is strict, to its end."""
    provider.script = right_if_strict(tuning)

    def attempt_at(tuning=tuning, **fields):
        attempt = start_attempt(tuning, draft, by=None, **fields)
        work()
        attempt.refresh_from_db()
        return attempt

    return attempt_at


def asked(provider):
    return [prompt(request) for request in provider.requests]


def test_new_prompt_changes_verdicts_and_nothing_else(provider, tuning, attempted):
    before = list(Result.objects.values()), list(Judgment.objects.values())
    judged = list(ResultScore.objects.values())
    attempt = attempted()
    assert attempt.state == "done"
    assert not attempt.judgments.filter(state="pending").exists()
    assert provider.total == len(MIXED)
    assert all(STRICT in text for text in asked(provider))
    found = tuning_figures(tuning).of(attempt)
    kappa = {split: measured.kappa for split, measured in found.splits.items()}
    assert kappa == {Split.DEVELOPMENT: 1.0, Split.HELD_OUT: 1.0}
    assert (list(Result.objects.values()), list(Judgment.objects.values())) == before
    assert list(ResultScore.objects.values()) == judged


def test_kappa_of_both_splits_by_hand(tuning):
    # Of 16: people pass 8; the judge passes 6 of these and 4 of the 8 that people fail.
    # By split from the rows themselves: Po = same / n, Pe = (pp·jp + pf·jf) / n².
    found = tuning_figures(tuning).in_use
    for split, measured in found.splits.items():
        rows = list(tuning.examples.filter(split=split).values_list("passed", "judge_passed"))
        n = len(rows)
        same = sum(a == b for a, b in rows) / n
        annotators, judge = sum(a for a, _ in rows) / n, sum(b for _, b in rows) / n
        chance = annotators * judge + (1 - annotators) * (1 - judge)
        assert measured.kappa == pytest.approx((same - chance) / (1 - chance))
        assert measured.n == n == 8


def test_estimate_equals_the_calls_made(provider, tuning, draft, attempted):
    found = estimate(tuning, draft)
    attempted()
    assert found.calls.low == provider.total == len(MIXED)
    assert found.cost is None
    assert found.problems == []


def test_later_edits_do_not_change_an_attempt(provider, tuning, draft, work):
    provider.script = right_if_strict(tuning)
    attempt = start_attempt(tuning, draft, by=None)
    strict(draft, "Be mild.")
    work()
    assert not any("Be mild." in text for text in asked(provider))
    assert completed_attempt(tuning, draft) is None
    assert attempt.digest == type(attempt).objects.get(pk=attempt.pk).digest


def test_one_attempt_at_a_time(tuning, draft):
    start_attempt(tuning, draft, by=None)
    with pytest.raises(Refused, match="Another attempt is running"):
        start_attempt(tuning, draft, by=None)


def test_example_of_a_held_out_test_is_refused(tuning, draft):
    held_out = tuning.examples.filter(split=Split.HELD_OUT).first().result.test
    TemplateExample.objects.create(template=draft, test=held_out, output="x", option="1")
    with pytest.raises(Refused, match="held-out split"):
        start_attempt(tuning, draft, by=None)
    assert not AttemptJudgment.objects.exists()


def test_no_answer_to_an_examples_test_is_judged(provider, tuning, draft, attempted):
    development = tuning.examples.filter(split=Split.DEVELOPMENT).first().result
    TemplateExample.objects.create(
        template=draft, test=development.test, input="Example?", output="Taught so.", option="1"
    )
    attempt = attempted()
    assert provider.total == len(MIXED) - 1
    assert all("Taught so." in text for text in asked(provider))
    assert not attempt.judgments.filter(labelled_example__result__test=development.test).exists()
    assert tuning_figures(tuning).of(attempt).against[Split.DEVELOPMENT].n == 7


def test_unreadable_replies_are_counted_and_retried_alone(provider, tuning, attempted, work):
    right = provider.script
    bad = next(iter(annotators_of(tuning)))
    provider.script = lambda request: "well" if bad in prompt(request) else right(request)
    attempt = attempted()
    assert failures(attempt) == {"unreadable": 1}
    found = tuning_figures(tuning).of(attempt)
    assert [split.failed for split in found.splits.values()] in ([0, 1], [1, 0])
    provider.clear()
    provider.script = right
    assert retry_errors(attempt) == 1
    work()
    assert (provider.total, failures(attempt)) == (1, {})
    with pytest.raises(NotPossible, match="Nothing to retry"):
        retry_errors(attempt)


def test_reply_that_was_repaired_is_a_verdict(provider, attempted):
    right = provider.script
    provider.script = lambda request: (
        right(request) if len(request["messages"]) > 1 else "I would rather not say"
    )
    attempt = attempted()
    assert set(attempt.judgments.values_list("state", "was_repaired")) == {("done", True)}
    assert Call.objects.filter(batch=attempt.work_key, role="repair").count() == len(MIXED)


def test_cancelled_attempt_keeps_its_verdicts_and_resumes(provider, tuning, draft, work):
    provider.script = right_if_strict(tuning)
    attempt = start_attempt(tuning, draft, by=None)
    ids = list(attempt.judgments.values_list("pk", flat=True))
    attempt.judgments.filter(pk__in=ids[:10]).update(state=ItemState.DONE, value=1.0, option="1")
    cancel(attempt)
    work()
    assert provider.total == 0
    assert tuning_figures(tuning).attempts == []
    attempt.refresh_from_db()
    resume(attempt)
    work()
    assert provider.total == len(MIXED) - 10
    attempt.refresh_from_db()
    assert attempt.state == BatchState.DONE


def test_cost_limit_stops_an_attempt(provider, tuning, draft, attempted, work):
    model = tuning.judge.language_model
    with pytest.raises(Refused, match="A cost limit needs prices"):
        start_attempt(tuning, draft, by=None, cost_limit_usd=Decimal("0.01"))
    model.input_usd_per_mtok = model.output_usd_per_mtok = Decimal(1000)
    model.save()
    tuning.refresh_from_db()
    attempt = attempted(cost_limit_usd=Decimal("0.0001"))
    assert attempt.state == BatchState.PAUSED
    assert "cost limit" in attempt.reason
    assert provider.total < len(MIXED)
    resume(attempt, cost_limit_usd=Decimal(1000))
    work()
    attempt.refresh_from_db()
    assert attempt.state == BatchState.DONE
    assert provider.total == len(MIXED)


def test_sealed_text_that_leaves_is_an_exposure(tuning, draft, attempted, settings):
    settings.EVALHUB_TRUSTED_ADDRESSES = []
    test = tuning.examples.first().result.test
    type(test).objects.filter(pk=test.pk).update(sealed=True)
    assert "1 of 16 tests is sealed" in str(estimate(tuning, draft).sealed_exposure)
    with pytest.raises(Refused, match="outside the trusted network"):
        start_attempt(tuning, draft, by=None)
    attempted(allow_sealed_exposure=True)
    assert list(Exposure.objects.values_list("test", "kind")) == [(test.pk, "sent")]


def test_an_example_sealed_since_the_start_is_an_exposure(provider, tuning, draft, work, settings):
    settings.EVALHUB_TRUSTED_ADDRESSES = []
    provider.script = right_if_strict(tuning)
    test = make_test("Of an example.")
    TemplateExample.objects.create(template=draft, test=test, output="ExampleSource.", option="1")
    draft.examples_shown = 1
    draft.save()
    start_attempt(tuning, draft, by=None)
    type(test).objects.filter(pk=test.pk).update(sealed=True)
    work()
    assert any("ExampleSource." in text for text in asked(provider))
    assert list(Exposure.objects.values_list("test", "kind")) == [(test.pk, "sent")]


# Publishing --------------------------------------------------------------------------------------


def test_published_with_the_figures_of_both_splits(tuning, draft, attempted):
    attempt = attempted()
    annotator = make_user("maintainer")
    publication = publish_draft(tuning, draft, by=annotator)
    draft.refresh_from_db()
    assert draft.state == "published"
    assert publication.attempt == attempt
    assert publication.figures["attempted"]["splits"]["held_out"]["kappa"] == 1.0
    assert publication.figures["in_use"]["splits"]["held_out"]["n"] == 8


def test_untested_draft_is_published_for_a_reason_only(tuning, draft):
    with pytest.raises(Refused, match="has not been tested"):
        publish_draft(tuning, draft, by=None, reason=" ")
    publication = publish_draft(tuning, draft, by=None, reason="Only a comma.")
    assert (publication.attempt, publication.reason) == (None, "Only a comma.")


def test_edited_draft_is_untested(tuning, draft, attempted):
    attempted()
    assert completed_attempt(tuning, draft) is not None
    strict(draft, "Be mild.")
    with pytest.raises(Refused, match="has not been tested"):
        publish_draft(tuning, draft, by=None)


def test_looks_are_counted_over_all_tunings_of_the_family(run, tuning, attempted):
    for one in (tuning, tuning, tuning_of(run, seed=9)):
        attempt = attempted(one)
    found = tuning_figures(attempt.tuning).of(attempt)
    assert found.look == 3


def test_replies_are_repaired_by_the_drafts_own_model(provider, draft, attempted, model_at):
    repair_model = model_at(litellm_model="openai/repair-model")
    draft.repair_model = repair_model
    draft.save()
    provider.script = lambda request: verdict(1) if request["model"] == "repair-model" else "Hm."
    repaired = attempted().judgments.values_list("state", "call__language_model")
    assert set(repaired) == {("done", repair_model.pk)}


def test_criteria_are_judged_one_by_one(provider, model_at, work):
    jury = make_jury(model_at(), approaches=("prompt_aware",))
    load_builtin_templates()
    points = {f"Point {n} is made.": [1.0] for n in range(8)}
    criteria = [{"text": text} for text in points]
    tests = tuple(make_test(f"Question {n}?", criteria=criteria) for n in range(2))
    run = rubric_run([], points, tests=tests, jury=jury)
    for judgment in Judgment.objects.filter(judge_run__run=run).select_related("criterion"):
        judgment.template = JudgeTemplate.objects.get(family="rubric-prompt-aware")
        judgment.save()
        say(judgment.result, 0.0, criterion=judgment.criterion, option="UNMET")
    tuning = start(Selection(judgment.template, judgment.judge), by=None, seed=1)
    draft = strict(draft_of(tuning, by=None))
    provider.script = lambda request: verdict("UNMET")
    attempt = start_attempt(tuning, draft, by=None)
    work()
    assert provider.total == 16
    assert sum("Point 3 is made." in text for text in asked(provider)) == 2
    before, after = tuning_figures(tuning).in_use, tuning_figures(tuning).of(attempt)
    assert {split.accuracy.accuracy for split in before.splits.values()} == {0.0}
    assert {split.accuracy.accuracy for split in after.splits.values()} == {1.0}
