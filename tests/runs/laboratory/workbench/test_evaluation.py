"""What a workbench asks judges, and what it makes of the replies, at a real HTTP provider."""

import re
from decimal import Decimal

import pytest

from evalhub.models import Call, Exposure
from runs.laboratory.workbench.figures import figures_of
from runs.laboratory.workbench.judges import setup_of
from runs.laboratory.workbench.models import BenchRow, RowJudgment
from runs.models import Judge, Judgment, Result, ResultScore, Run
from tests.factories import make_jury, make_template, make_test
from tests.issues.pages import log_in
from tests.provider import UNAUTHORIZED, prompt, sequence, verdict
from tests.runs.laboratory.workbench.rows import (
    act,
    answer_in,
    edit,
    evaluate,
    judge_of_fours,
    make_bench,
)

pytestmark = pytest.mark.django_db

GOOD, BAD = "It is four.", "It is five."


@pytest.fixture
def user(client, provider):
    provider.script = judge_of_fours
    return log_in(client, "annotator")


def figures(bench):
    bench.refresh_from_db()
    rows = list(bench.rows.all())
    return figures_of(setup_of(bench), bench, rows)


def test_only_the_changed_row_is_asked_again(client, user, provider, model_at):
    bench = make_bench(user, model_at(name="Ada"), answers=[(GOOD, {"": "1"}), (BAD, {"": "1"})])
    events = evaluate(client, bench)
    first, second = bench.rows.all()

    assert provider.total == 2
    assert [f"{key}" for key in events[-1]["rows"]] == []
    assert {pk for event in events for pk in event.get("rows", {})} == {
        str(first.pk),
        str(second.pk),
    }
    (ada,) = figures(bench).judges
    assert ada.agreement[:2] == (1, 2)
    assert ada.agreement.interval.low == pytest.approx(0.0945, abs=1e-4)  # Wilson of 1 in 2

    edit(client, second, answer="Of course it is four.")
    found = figures(bench)
    verdicts = [row.criteria[0].verdicts[0] for row in found.rows]
    assert [verdict.is_stale for verdict in verdicts] == [False, True]
    assert found.judges[0].agreement[:2] == (1, 1)

    evaluate(client, bench)
    assert provider.total == 3
    assert "Of course" in answer_in(provider.requests[-1])
    assert figures(bench).judges[0].agreement[:2] == (2, 2)

    edit(client, second, answer=BAD)  # asked before: nothing to ask
    assert "Nothing has changed" in evaluate(client, bench)[-1]["progress"]
    assert provider.total == 3
    assert figures(bench).judges[0].agreement[:2] == (1, 2)


def test_nothing_of_it_is_a_run_a_result_or_a_judgment(client, user, model_at):
    bench = make_bench(user, model_at(), answers=[(GOOD, {})])
    evaluate(client, bench)
    assert RowJudgment.objects.count() == 1
    kinds = (Run, Result, ResultScore, Judgment, Judge)
    assert [kind.objects.count() for kind in kinds] == [0] * 5


def test_models_and_templates_are_multiplied(client, user, provider, model_at):
    models = [model_at(name=name) for name in ("Ada", "Bob")]
    bench = make_bench(user, *models, answers=[(GOOD, {})])
    bench.judges["templates"] = [make_template(title="Other").pk]
    bench.save()
    evaluate(client, bench)
    assert provider.total == 4
    names = {judge.name for judge in figures(bench).judges}
    assert names == {"Ada, this prompt", "Ada, Other", "Bob, this prompt", "Bob, Other"}


def test_a_jury_judges_as_it_does_in_runs(client, user, provider, model_at):
    bench = make_bench(user, answers=[(GOOD, {"": "1"})])
    bench.judges = {"jury": make_jury(model_at(name="Ada")).pk}
    bench.save()
    evaluate(client, bench)
    assert figures(bench).judges[0].agreement[:2] == (1, 1)


def test_order_bias_is_measured_in_both_orders_or_not_at_all(client, user, provider, model_at):
    def first_option(request):
        return verdict(int(re.findall(r"^- (\d):", prompt(request), re.M)[0]))

    provider.script = first_option
    bench = make_bench(user, model_at(), answers=[(GOOD, {}), (BAD, {})])
    evaluate(client, bench)
    assert figures(bench).judges[0].bias == (0, 0, None)

    bench.judges["reversed"] = True
    bench.save()
    evaluate(client, bench)
    assert provider.total == 4  # the given order is kept
    options = [re.findall(r"^- (\d):", prompt(r), re.M) for r in provider.requests]
    assert options == [["0", "1"]] * 2 + [["1", "0"]] * 2
    assert figures(bench).judges[0].bias[:2] == (2, 2)


def test_samples_vote_and_a_tie_stays_a_tie(client, user, provider, model_at):
    provider.script = sequence(*[verdict(n) for n in (1, 0, 1, 0, 1)])
    bench = make_bench(user, model_at(), answers=[(GOOD, {"": "1"})], samples=3)
    evaluate(client, bench)
    assert (provider.total, provider.requests[0]["temperature"]) == (3, 1)
    (row,) = figures(bench).rows
    (ada,) = row.criteria[0].verdicts
    assert (ada.vote.option, ada.vote.votes, row.scored.score) == ("1", (("1", 2), ("0", 1)), 1.0)

    bench.judges["samples"] = 4
    bench.save()
    evaluate(client, bench)
    assert provider.total == 4  # one more vote
    found = figures(bench)
    (ada,) = found.rows[0].criteria[0].verdicts
    assert (ada.vote.is_tie, ada.agrees, ada.value) == (True, None, None)
    assert (found.judges[0].ties, found.judges[0].agreement.compared) == (1, 0)
    assert found.rows[0].scored is None


def test_criteria_are_weighted_and_a_mandatory_one_decides(client, user, provider, model_at):
    options = {"Says four": "MODERATELY_MET", "Is brief": "FULLY_MET", "Names a price": "UNMET"}
    provider.script = lambda request: verdict(
        next(o for text, o in options.items() if f"## Criterion\n{text}" in prompt(request))
    )
    criteria = [
        {"text": "Says four", "weight": 3},
        {"text": "Is brief"},
        {"text": "Names a price", "polarity": "should_not", "weight": 2},
    ]
    bench = make_bench(user, model_at(), answers=[(GOOD, {})], criteria=criteria)
    evaluate(client, bench)
    # (3 · 0.5 + 1 · 1 + 2 · (1 - 0)) / 6
    assert figures(bench).rows[0].scored.score == pytest.approx(0.75)

    bench.criteria[0]["target"] = "MODERATELY_MET"
    bench.save()
    assert figures(bench).rows[0].scored.score == 1.0
    bench.criteria[0] |= {"target": "", "mandatory": True}
    bench.save()
    (row,) = figures(bench).rows
    assert (row.scored.score, row.breakdown.mean) == (0.0, pytest.approx(0.75))
    assert provider.total == 3  # weights and targets are no part of what is asked


def test_a_check_needs_no_model(client, user, provider):
    criteria = [{"check": "contains", "arguments": {"text": "four"}}]
    bench = make_bench(user, answers=[(GOOD, {}), (BAD, {})], criteria=criteria)
    evaluate(client, bench)
    assert [row.scored.score for row in figures(bench).rows] == [1.0, 0.0]
    assert provider.total == 0


def test_a_failure_is_a_failure_and_is_retried(client, user, provider, model_at):
    provider.script = sequence("No idea.", "None.", verdict(1))
    bench = make_bench(user, model_at(), answers=[(GOOD, {"": "1"})])
    evaluate(client, bench)
    found = figures(bench)
    assert (found.rows[0].scored, found.judges[0].failed, found.missing) == (None, 1, 1)
    assert found.judges[0].agreement.compared == 0
    assert RowJudgment.objects.get().message

    evaluate(client, bench)
    assert figures(bench).judges[0].agreement[:2] == (1, 1)
    assert RowJudgment.objects.count() == 1


def test_a_wrong_key_is_said_once_per_judgment(client, user, provider, model_at):
    provider.script = lambda request: UNAUTHORIZED
    bench = make_bench(user, model_at(), answers=[(GOOD, {})])
    evaluate(client, bench)
    assert "Incorrect API key" in RowJudgment.objects.get().message


def test_cost_counts_repairs_and_the_day_has_a_limit(client, user, provider, model_at, settings):
    priced = {"input_usd_per_mtok": Decimal(2), "output_usd_per_mtok": Decimal(10)}
    provider.script = sequence("No idea.", verdict(1))
    bench = make_bench(user, model_at(**priced), answers=[(GOOD, {}), (BAD, {})])
    first, second = bench.rows.all()
    evaluate(client, bench, first)
    total = sum(call.cost_usd or 0 for call in Call.objects.all())
    assert Call.objects.count() == 2
    assert figures(bench).cost_usd == pytest.approx(total, abs=Decimal("0.000001"))

    settings.EVALHUB_TRY_LIMIT_USD = 0.000001
    events = evaluate(client, bench, second)
    assert any("limit for trying tests" in event.get("error", "") for event in events)
    assert provider.total == 2


def test_a_sealed_row_is_sent_outside_only_after_a_yes(client, user, provider, model_at, settings):
    settings.EVALHUB_TRUSTED_ADDRESSES = []
    bench = make_bench(user, model_at(), answers=[(GOOD, {})])
    row = bench.rows.get()
    row.test = make_test(sealed=True)
    row.save()
    (event,) = evaluate(client, bench)
    assert "is sealed and would be sent" in event["words"]
    assert provider.total == 0
    evaluate(client, bench, consent=event["consent"])
    assert provider.total == 1
    assert Exposure.objects.get().test == row.test_id


def test_a_row_as_example_is_shown_to_judges_and_no_longer_judged(client, provider, model_at):
    provider.script = judge_of_fours
    maintainer = log_in(client, "maintainer")
    bench = make_bench(maintainer, model_at(), answers=[(GOOD, {"": "1"}), (BAD, {})])
    first, second = bench.rows.all()
    refused = act(client, bench, second, "example")
    assert "expected option first" in refused["problems"][0]
    assert act(client, bench, first, "example")["rows"]
    bench.refresh_from_db()
    assert bench.draft.examples.get().option == "1"

    edit(client, second, input="What is 3 + 2?")  # equal input would give the verdict away
    evaluate(client, bench)
    assert provider.total == 1
    assert GOOD in prompt(provider.requests[0])
    act(client, bench, first, "row")
    assert bench.draft.examples.count() == 0
    assert BenchRow.objects.get(pk=first.pk).example is None


def test_method_and_role_are_asked_and_make_judgments_stale(client, user, provider, model_at):
    bench = make_bench(user, model_at(), answers=[(GOOD, {"": "1"})])
    evaluate(client, bench)
    replies = [verdict(1), verdict("bad", "You miscounted."), verdict(0)]
    provider.script = sequence(*replies)
    bench.judges |= {"method": "self_critique", "role": "You are a teacher."}
    bench.save()
    assert figures(bench).rows[0].criteria[0].verdicts[0].is_stale

    evaluate(client, bench)
    assert provider.total == 4
    assert all(r["messages"][0]["content"] == "You are a teacher." for r in provider.requests[1:])
    assert figures(bench).judges[0].agreement[:2] == (0, 1)
    last = RowJudgment.objects.latest("pk")
    assert (last.option, last.call) == ("0", Call.objects.latest("pk"))

    bench.judges["method"] = "debate"
    bench.save()
    provider.script = sequence("Arguments.", UNAUTHORIZED)
    evaluate(client, bench)
    assert RowJudgment.objects.filter(state="failed", option="").count() <= 1
    assert figures(bench).judges[0].agreement[:2] == (0, 0)


def test_role_is_suggested_by_one_call_and_not_saved(client, user, provider, model_at):
    bench = make_bench(user, model_at(), model_at(), answers=[(GOOD, {})])
    bench.guidelines = "Sums are right."
    bench.save()
    provider.script = lambda request: "You are a teacher.\n"
    events = evaluate(client, bench, act="role")
    assert events[-1]["role"] == "You are a teacher."
    assert provider.total == 1
    assert "Sums are right." in prompt(provider.requests[0])
    assert Call.objects.get().role == "generator"
    bench.refresh_from_db()
    assert not bench.judges.get("role")

    provider.script = lambda request: UNAUTHORIZED
    events = evaluate(client, bench, act="role")
    assert any("error" in event for event in events)
    assert events[-1]["role"] == ""


def test_role_for_a_sealed_test_is_suggested_only_after_a_yes(client, provider, model_at, settings):
    settings.EVALHUB_TRUSTED_ADDRESSES = []
    maintainer = log_in(client, "maintainer")
    provider.script = lambda request: "You are a teacher."
    bench = make_bench(maintainer, model_at(), model_at(), answers=[(GOOD, {})])
    bench.test = make_test(sealed=True)
    bench.save()
    (event,) = evaluate(client, bench, act="role")
    assert "is sealed and would be sent" in event["words"]
    assert provider.total == 0
    evaluate(client, bench, act="role", consent=event["consent"])
    assert provider.total == 1
    assert Exposure.objects.get().test == bench.test_id
