from decimal import Decimal

import pytest

from evalhub.models import BatchState, Call, Exposure, ItemState
from evalhub.work.progress import NotPossible
from issues.judge_templates import load_builtin_templates
from issues.models import JudgeTemplate, TemplateExample
from runs.models import Assessment, Judgment, Result
from runs.rehearsals.models import Half, Verdict
from runs.rehearsals.outcome import failures, outcome
from runs.rehearsals.publishing import publish_tried, tried_as
from runs.rehearsals.starting import RehearsalRefused, draft_of, start
from runs.rehearsals.trying import cancel, estimate, is_complete, resume, retry_errors, try_draft
from runs.rehearsals.verdicts import Chosen
from tests.factories import make_jury, make_test, make_user
from tests.provider import prompt, verdict
from tests.runs.rehearsals.rows import MIXED, decided, rehearsal_of, say
from tests.runs.rubrics import rubric_run

pytestmark = pytest.mark.django_db(transaction=True)

STRICT = "Be strict."


@pytest.fixture
def run(model_at):
    return decided(MIXED, model=model_at())


@pytest.fixture
def rehearsal(run):
    return rehearsal_of(run, seed=1)


@pytest.fixture
def draft(rehearsal):
    return strict(draft_of(rehearsal, by=None))


def strict(draft, words=STRICT):
    draft.text = f"{words}\n\n{draft.text}"
    draft.save()
    return draft


def people_of(rehearsal):
    """What people said, by the words of the answer."""
    rows = rehearsal.precedents.select_related("result")
    return {f"Answer {row.result.test_id}.": int(row.passed) for row in rows}


def right_if_strict(rehearsal):
    """A judge that says what people say once its wording has been changed, and else passes all."""
    people = people_of(rehearsal)

    def script(request):
        text = prompt(request)
        right = next(value for answer, value in people.items() if answer in text)
        return verdict(right if STRICT in text else 1, "so")

    return script


def asked(provider):
    return [prompt(request) for request in provider.requests]


def test_new_wording_changes_verdicts_and_nothing_else(provider, rehearsal, draft, work):
    provider.script = right_if_strict(rehearsal)
    before = list(Result.objects.values()), list(Judgment.objects.values())
    judged = list(Assessment.objects.values())
    attempt = try_draft(rehearsal, draft, by=None)
    work()
    attempt.refresh_from_db()
    assert is_complete(attempt)
    assert provider.total == len(MIXED)
    assert all(STRICT in text for text in asked(provider))
    tried = outcome(rehearsal).of(attempt)
    assert {half: found.kappa for half, found in tried.halves.items()} == {
        Half.SEEN: 1.0,
        Half.HELD_OUT: 1.0,
    }
    assert (list(Result.objects.values()), list(Judgment.objects.values())) == before
    assert list(Assessment.objects.values()) == judged


def test_kappa_of_both_halves_by_hand(rehearsal):
    # Of 16: people pass 8; the judge passes 6 of these and 4 of the 8 that people fail.
    # By half from the rows themselves: Po = same / n, Pe = (pp·jp + pf·jf) / n².
    found = outcome(rehearsal).in_use
    for half, measured in found.halves.items():
        rows = list(rehearsal.precedents.filter(half=half).values_list("passed", "judge_passed"))
        n = len(rows)
        same = sum(a == b for a, b in rows) / n
        people, judge = sum(a for a, _ in rows) / n, sum(b for _, b in rows) / n
        chance = people * judge + (1 - people) * (1 - judge)
        assert measured.kappa == pytest.approx((same - chance) / (1 - chance))
        assert measured.n == n == 8


def test_estimate_counts_what_is_then_asked(provider, rehearsal, draft, work):
    provider.script = right_if_strict(rehearsal)
    found = estimate(rehearsal, draft)
    try_draft(rehearsal, draft, by=None)
    work()
    assert found.calls.low == provider.total == len(MIXED)
    assert found.cost is None
    assert found.problems == []


def test_later_edits_do_not_change_a_try(provider, rehearsal, draft, work):
    provider.script = right_if_strict(rehearsal)
    attempt = try_draft(rehearsal, draft, by=None)
    strict(draft, "Be mild.")
    work()
    assert not any("Be mild." in text for text in asked(provider))
    assert tried_as(rehearsal, draft) is None
    assert attempt.digest == type(attempt).objects.get(pk=attempt.pk).digest


def test_one_try_at_a_time(rehearsal, draft):
    try_draft(rehearsal, draft, by=None)
    with pytest.raises(RehearsalRefused, match="Another try is at work"):
        try_draft(rehearsal, draft, by=None)


def test_example_of_a_held_out_test_is_refused(rehearsal, draft):
    held_out = rehearsal.precedents.filter(half=Half.HELD_OUT).first().result.test
    TemplateExample.objects.create(template=draft, test=held_out, output="x", option="1")
    with pytest.raises(RehearsalRefused, match="held-out half"):
        try_draft(rehearsal, draft, by=None)
    assert not Verdict.objects.exists()


def test_no_answer_to_an_examples_test_is_asked_about(provider, rehearsal, draft, work):
    provider.script = right_if_strict(rehearsal)
    seen = rehearsal.precedents.filter(half=Half.SEEN).first().result
    TemplateExample.objects.create(
        template=draft, test=seen.test, input="Example?", output="Taught so.", option="1"
    )
    attempt = try_draft(rehearsal, draft, by=None)
    work()
    assert provider.total == len(MIXED) - 1
    assert all("Taught so." in text for text in asked(provider))
    assert not attempt.verdicts.filter(precedent__result__test=seen.test).exists()
    assert outcome(rehearsal).of(attempt).against[Half.SEEN].n == 7


def test_what_cannot_be_read_is_counted_and_retried_alone(provider, rehearsal, draft, work):
    right = right_if_strict(rehearsal)
    bad = next(iter(people_of(rehearsal)))
    provider.script = lambda request: "well" if bad in prompt(request) else right(request)
    attempt = try_draft(rehearsal, draft, by=None)
    work()
    assert failures(attempt) == {"unreadable": 1}
    tried = outcome(rehearsal).of(attempt)
    assert [half.failed for half in tried.halves.values()] in ([0, 1], [1, 0])
    provider.clear()
    provider.script = right
    assert retry_errors(attempt) == 1
    work()
    assert (provider.total, failures(attempt)) == (1, {})
    with pytest.raises(NotPossible, match="nothing to retry"):
        retry_errors(attempt)


def test_reply_that_was_repaired_is_a_verdict(provider, rehearsal, draft, work):
    right = right_if_strict(rehearsal)
    provider.script = lambda request: (
        right(request) if len(request["messages"]) > 1 else "I would rather not say"
    )
    attempt = try_draft(rehearsal, draft, by=None)
    work()
    assert set(attempt.verdicts.values_list("state", "was_repaired")) == {("done", True)}
    assert Call.objects.filter(batch=attempt.work_key, role="repair").count() == len(MIXED)


def test_cancelled_try_keeps_what_was_said_and_goes_on_with_the_rest(
    provider, rehearsal, draft, work
):
    provider.script = right_if_strict(rehearsal)
    attempt = try_draft(rehearsal, draft, by=None)
    ids = list(attempt.verdicts.values_list("pk", flat=True))
    attempt.verdicts.filter(pk__in=ids[:10]).update(state=ItemState.DONE, value=1.0, option="1")
    cancel(attempt)
    work()
    assert provider.total == 0
    assert outcome(rehearsal).tries == []
    attempt.refresh_from_db()
    resume(attempt)
    work()
    assert provider.total == len(MIXED) - 10
    attempt.refresh_from_db()
    assert attempt.state == BatchState.DONE


def test_cost_limit_stops_a_try(provider, rehearsal, draft, work):
    provider.script = right_if_strict(rehearsal)
    model = rehearsal.judge.language_model
    with pytest.raises(RehearsalRefused, match="A cost limit needs prices"):
        try_draft(rehearsal, draft, by=None, cost_limit_usd=Decimal("0.01"))
    model.input_usd_per_mtok = model.output_usd_per_mtok = Decimal(1000)
    model.save()
    rehearsal.refresh_from_db()
    attempt = try_draft(rehearsal, draft, by=None, cost_limit_usd=Decimal("0.0001"))
    work()
    attempt.refresh_from_db()
    assert attempt.state == BatchState.PAUSED
    assert "cost limit" in attempt.reason
    assert provider.total < len(MIXED)
    resume(attempt, cost_limit_usd=Decimal(1000))
    work()
    attempt.refresh_from_db()
    assert attempt.state == BatchState.DONE
    assert provider.total == len(MIXED)


def test_sealed_text_that_leaves_is_an_exposure(provider, rehearsal, draft, work, settings):
    settings.EVALHUB_TRUSTED_ADDRESSES = []
    provider.script = right_if_strict(rehearsal)
    test = rehearsal.precedents.first().result.test
    type(test).objects.filter(pk=test.pk).update(sealed=True)
    assert "1 of 16 tests is sealed" in str(estimate(rehearsal, draft).leaving)
    with pytest.raises(RehearsalRefused, match="outside the trusted network"):
        try_draft(rehearsal, draft, by=None)
    try_draft(rehearsal, draft, by=None, sealed_may_leave=True)
    work()
    assert list(Exposure.objects.values_list("test", "kind")) == [(test.pk, "sent")]


def test_an_example_sealed_since_the_try_began_is_an_exposure(
    provider, rehearsal, draft, work, settings
):
    settings.EVALHUB_TRUSTED_ADDRESSES = []
    provider.script = right_if_strict(rehearsal)
    test = make_test("Of an example.")
    TemplateExample.objects.create(template=draft, test=test, output="Taught.", option="1")
    draft.examples_shown = 1
    draft.save()
    try_draft(rehearsal, draft, by=None)
    type(test).objects.filter(pk=test.pk).update(sealed=True)
    work()
    assert any("Taught." in text for text in asked(provider))
    assert list(Exposure.objects.values_list("test", "kind")) == [(test.pk, "sent")]


# Publishing --------------------------------------------------------------------------------------


def test_published_with_the_figures_of_both_halves(provider, rehearsal, draft, work):
    provider.script = right_if_strict(rehearsal)
    attempt = try_draft(rehearsal, draft, by=None)
    work()
    person = make_user("maintainer")
    publication = publish_tried(rehearsal, draft, by=person)
    draft.refresh_from_db()
    assert draft.state == "published"
    assert publication.attempt == attempt
    assert publication.figures["tried"]["halves"]["held_out"]["kappa"] == 1.0
    assert publication.figures["in_use"]["halves"]["held_out"]["n"] == 8


def test_untried_draft_is_published_for_a_reason_only(rehearsal, draft):
    with pytest.raises(RehearsalRefused, match="never tried"):
        publish_tried(rehearsal, draft, by=None, reason=" ")
    publication = publish_tried(rehearsal, draft, by=None, reason="Only a comma.")
    assert (publication.attempt, publication.reason) == (None, "Only a comma.")


def test_draft_that_was_edited_since_is_untried(provider, rehearsal, draft, work):
    provider.script = right_if_strict(rehearsal)
    try_draft(rehearsal, draft, by=None)
    work()
    assert tried_as(rehearsal, draft) is not None
    strict(draft, "Be mild.")
    with pytest.raises(RehearsalRefused, match="never tried"):
        publish_tried(rehearsal, draft, by=None)


def test_each_try_is_one_more_look_over_all_rehearsals_of_the_family(
    provider, run, rehearsal, draft, work
):
    provider.script = right_if_strict(rehearsal)
    for one in (rehearsal, rehearsal, rehearsal_of(run, seed=9)):
        attempt = try_draft(one, draft, by=None)
        work()
    found = outcome(attempt.rehearsal).of(attempt)
    assert found.look == 3


def test_replies_are_mended_by_the_drafts_own_model(provider, rehearsal, draft, work, model_at):
    mender = model_at(litellm_model="openai/mender")
    draft.repair_model = mender
    draft.save()
    provider.script = lambda request: verdict(1) if request["model"] == "mender" else "Hm."
    attempt = try_draft(rehearsal, draft, by=None)
    work()
    assert set(attempt.verdicts.values_list("state", "call__language_model")) == {
        ("done", mender.pk)
    }


def test_criteria_are_asked_about_one_by_one(provider, model_at, work):
    jury = make_jury(model_at(), approaches=("prompt_aware",))
    load_builtin_templates()
    points = {f"Point {n} is made.": [1.0] for n in range(8)}
    criteria = [{"text": text} for text in points]
    tests = tuple(make_test(f"Question {n}?", criteria=criteria) for n in range(2))
    run = rubric_run([], points, tests=tests, jury=jury)
    for judgment in Judgment.objects.filter(judging__run=run).select_related("criterion"):
        judgment.template = JudgeTemplate.objects.get(family="rubric-prompt-aware")
        judgment.save()
        say(judgment.result, 0.0, criterion=judgment.criterion, option="UNMET")
    rehearsal = start(Chosen(judgment.template, judgment.judge), by=None, seed=1)
    draft = strict(draft_of(rehearsal, by=None))
    provider.script = lambda request: verdict("UNMET")
    attempt = try_draft(rehearsal, draft, by=None)
    work()
    assert provider.total == 16
    assert sum("Point 3 is made." in text for text in asked(provider)) == 2
    before, after = outcome(rehearsal).in_use, outcome(rehearsal).of(attempt)
    assert {half.accuracy.accuracy for half in before.halves.values()} == {0.0}
    assert {half.accuracy.accuracy for half in after.halves.values()} == {1.0}
