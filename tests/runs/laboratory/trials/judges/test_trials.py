"""Trials against a scripted provider: calls, scores, failures and control."""

import json
from collections import defaultdict
from decimal import Decimal

import pytest
from django.urls import reverse

from evalhub.models import BatchState, Call, ItemState
from evalhub.refusals import Refused
from evalhub.work.control import cancel, resume, retry_errors
from issues.judge_templates.lifecycle import load_builtin_templates
from issues.models import JudgeTemplate
from runs.laboratory.trials.benchmarks.imports import import_benchmark, read_lines
from runs.laboratory.trials.claims.claim_rows import build_claims
from runs.laboratory.trials.judges.measures import measures_of
from runs.laboratory.trials.judges.trial_control import estimate, start
from runs.laboratory.trials.judges.trial_judges import TrialJudge
from runs.laboratory.trials.judges.verdicts import judged_claims
from runs.laboratory.trials.models import ClaimJudgment, ClaimKind
from runs.laboratory.tuning.models import Split
from tests.factories import make_model, make_template, make_user
from tests.provider import REFUSED, failure, prompt, verdict
from tests.runs.laboratory.pairwise.rows import says
from tests.runs.laboratory.trials.sample_benchmark import make_benchmark, programs_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def similarity():
    load_builtin_templates()
    return JudgeTemplate.objects.get(family="similarity")


@pytest.fixture
def judge(model_at, similarity):
    return TrialJudge(model_at(is_scripted=True), similarity)


@pytest.fixture
def tried(judge, work):
    """The trial of the judge, once it is done."""

    def trial_of(benchmark):
        (trial,) = start(benchmark, [judge], by=None)
        work()
        trial.refresh_from_db()
        return trial

    return trial_of


def knows(request):
    """A judge that finds two texts equal if they name the same program."""
    if "better" in prompt(request):
        described = prompt(request).split("[BEGIN INPUT")[1]
        first, _ = programs_in(request)
        return says("A" if first in described.split("[END")[0] else "B")
    first, second = programs_in(request)
    return verdict("7" if first == second else "1")


def measured(trial, **wanted):
    claims = trial.benchmark.claims.usable().filter(**wanted)
    found = judged_claims([trial], claims, trial.benchmark.kinds)
    return measures_of([one.verdict for one in found[trial.pk]])


def test_all_claims_about_an_idea_are_of_one_split():
    benchmark = make_benchmark(topics=4, ideas=10)
    splits = defaultdict(set)
    for claim in benchmark.claims.filter(kind="equal"):
        splits[claim.idea_id].add(claim.split)
    development = {idea for idea, found in splits.items() if found == {Split.DEVELOPMENT}}

    assert all(len(found) == 1 for found in splits.values())
    assert 4 <= len(development) <= 18  # of 40, a quarter of them by chance
    for claim in benchmark.claims.filter(kind="different").select_related("left", "right"):
        both = {claim.left.idea_id, claim.right.idea_id} <= development
        assert (claim.split == Split.DEVELOPMENT) == both


def test_a_perfect_judge_is_right_on_every_claim_in_both_orders(provider, tried):
    provider.script = knows
    benchmark = make_benchmark(topics=2, ideas=3)

    trial = tried(benchmark)

    assert trial.state == BatchState.DONE
    claims = benchmark.claims.count()
    assert provider.total == 2 * claims == trial.judgments.count()
    found = measured(trial)
    assert (found.right.share, found.symmetric.share, found.balanced.value) == (1, 1, 1)
    assert measured(trial, kind=ClaimKind.RANK).prefers_first.part == 0


def test_labelled_pairs_are_judged_and_failures_are_reported_as_such(provider, tried, client):
    pairs = [
        {"left": "a zebra", "right": "the zebra", "label": True},
        {"left": "b", "right": "c", "score": 1},
    ]
    text = "\n".join(json.dumps(pair) for pair in pairs)
    benchmark = import_benchmark("Real", read_lines(text), by=None)
    provider.script = lambda request: verdict("7" if "zebra" in prompt(request) else "1")
    trial = tried(benchmark)
    assert (trial.state, measured(trial).right.part, measured(trial).right.n) == ("done", 4, 4)

    failing = import_benchmark("Failing", read_lines(text), by=None)
    provider.script = lambda request: failure(400, "refused")
    tried(failing)
    client.force_login(make_user("superuser"))
    page = client.get(f"/reports/judge_reliability/?tab=trials&benchmark={failing.pk}")
    assert page.status_code == 200
    assert "No judge was tried" not in page.content.decode()
    assert client.get(reverse("admin:trials_benchmark_label", args=[failing.pk])).status_code == 200


def test_the_published_experiment_runs_in_its_shape(provider, tried):
    """4 topics × 10 ideas and 2 clusters × 8, in 3 languages, with 2 corrupted programs."""
    lost = [("program 0.1", "java"), ("program 2.5", "cobol")]
    benchmark = make_benchmark(topics=4, ideas=10, clusters=2, corrupted=lost)
    benchmark.claims.exclude(kind__in=(ClaimKind.EQUAL, ClaimKind.DIFFERENT)).delete()
    provider.script = lambda request: verdict("7")
    trial = tried(benchmark)

    # Each idea has 3 pairs in 2 orders; the 2 that lost a program have 1 pair each: 8 less.
    main = {"topic__is_cluster": False}
    assert provider.total == 232 + 232 + 192
    assert measured(trial, **main).asked == 232 + 232
    assert measured(trial, topic__is_cluster=True).asked == 192
    found = measured(trial)
    assert (found.right.part, found.right.n) == (328, 656)
    assert (found.balanced.value, found.symmetric.share, found.transitive.share) == (0.5, 1, 1)
    assert (found.hard_false.part, found.hard_false.n) == (96, 96)


def test_the_order_of_texts_is_reversed_and_nothing_tells_the_truth(provider, tried):
    provider.script = knows
    tried(make_benchmark(topics=2, ideas=1, languages=("java", "cobol")))

    shown = [tuple(programs_in(request)) for request in provider.requests]
    assert sorted(shown) == sorted(pair[::-1] for pair in shown)
    equal = [one for one in provider.requests if "as a whole" in prompt(one)]
    texts = {prompt(one).split("[BEGIN REFERENCE")[0].split("What to compare")[1] for one in equal}
    questions = {text.split("]\n")[1].split("\n[END")[0] for text in texts}
    assert len(questions) == 1


def test_a_judge_that_always_says_7_is_no_better_than_a_coin(provider, tried):
    provider.script = lambda request: says("A") if "better" in prompt(request) else verdict("7")
    trial = tried(make_benchmark(topics=2, ideas=2, clusters=1, cluster_ideas=3))

    found = measured(trial)
    assert found.balanced.value == 0.5
    assert found.hard_false.share == 1
    assert measured(trial, kind=ClaimKind.RANK).prefers_first.share == 1


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (REFUSED, "unreadable"),
        ('{"score": ', "unreadable"),
        (verdict("9"), "unreadable"),
        (failure(400, "context length exceeded", "context_length_exceeded"), "context_too_long"),
    ],
)
def test_a_failure_is_no_verdict_and_can_be_retried(provider, tried, work, reply, kind):
    provider.script = lambda request: reply
    trial = tried(make_benchmark(topics=2, ideas=1, languages=("java", "cobol")))

    failed = set(trial.judgments.values_list("state", "score", "error_kind"))
    assert failed == {(ItemState.ERROR, None, kind)}
    found = measured(trial)
    assert (found.failed, found.scored, found.balanced) == (trial.judgments.count(), 0, None)

    provider.script = knows
    assert retry_errors(trial) == trial.judgments.count()
    work()
    assert measured(trial).right.share == 1


def test_a_rate_limit_is_waited_for(provider, tried):
    waits = iter([failure(429, "slow down")] * 2)
    provider.script = lambda request: next(waits, None) or knows(request)
    trial = tried(make_benchmark(topics=2, ideas=1, languages=("java",)))
    assert measured(trial).failed == 0


def test_a_cancelled_trial_keeps_its_scores_and_is_resumed(provider, judge, work):
    provider.script = knows
    (trial,) = start(make_benchmark(), [judge], by=None)
    cancel(trial)
    work()
    assert provider.total == 0

    trial.refresh_from_db()
    resume(trial)
    work()
    assert measured(trial).right.share == 1


def test_metrics_are_judges_without_calls(provider, work):
    benchmark = make_benchmark()
    metrics = [TrialJudge(metric="rouge_l"), TrialJudge(metric="token_overlap")]

    trials = start(benchmark, metrics, by=None)
    work()

    assert provider.total == Call.objects.count() == 0
    for trial in trials:
        trial.refresh_from_db()
        assert trial.state == BatchState.DONE
        assert measured(trial).failed == 0
        assert 0 <= trial.judgments.first().score <= 1


def test_a_template_without_a_reference_shows_the_first_text_as_input(
    provider, model_at, similarity, work
):
    summary = JudgeTemplate.objects.get(family="summary-usefulness")
    provider.script = lambda request: verdict("5")
    benchmark = make_benchmark(topics=2, ideas=1, languages=("java",))
    (trial,) = start(benchmark, [TrialJudge(model_at(), summary)], by=None)
    work()

    assert trial.threshold == 5
    described = [one for one in provider.requests if "[BEGIN INPUT" in prompt(one)]
    assert any("Write program 0.0." in prompt(one) for one in described)


def test_the_estimate_counts_calls_of_all_judges(judge, similarity, model_at):
    benchmark = make_benchmark()
    judges = [judge, TrialJudge(model_at(), similarity), TrialJudge(metric="chrf")]

    found = estimate(benchmark, judges)

    assert found.calls.low == 2 * 2 * found.claims
    assert found.problems == []


def test_what_prevents_a_start_is_listed_with_its_values(judge, model_at, settings):
    benchmark = make_benchmark()
    with pytest.raises(Refused, match="chosen twice"):
        start(benchmark, [judge, judge], by=None)
    with pytest.raises(Refused, match="publish it first"):
        start(benchmark, [TrialJudge(model_at(), make_template(state="draft"))], by=None)
    with pytest.raises(Refused, match="add them to"):
        start(benchmark, [judge], by=None, cost_limit_usd=Decimal(1))
    with pytest.raises(Refused, match="no claims yet"):
        start(make_benchmark(topics=0), [judge], by=None)
    settings.EVALHUB_TRUSTED_ADDRESSES = []
    sealed = make_benchmark(sealed=True)
    outside = TrialJudge(make_model(api_base="https://api.example.com/v1"), judge.template)
    with pytest.raises(Refused, match=r"api\.example\.com:443 is outside"):
        start(sealed, [outside], by=None)
    assert not ClaimJudgment.objects.exists()


def test_a_judge_is_another_one_with_another_prompt_address_or_parameter(judge, similarity):
    model = judge.language_model
    before = judge.method
    assert TrialJudge(model, similarity).method == before
    other = JudgeTemplate.objects.get(family="summary-usefulness")
    assert TrialJudge(model, other).method != before
    model.params = {"temperature": 0.7}
    assert TrialJudge(model, similarity).method != before


def test_claims_are_built_once_and_those_of_an_excluded_text_take_no_part():
    benchmark = make_benchmark(topics=4, ideas=10, corrupted=[("program 0.1", "java")])
    by_kind = {kind: benchmark.claims.filter(kind=kind).count() for kind in ("equal", "different")}
    assert by_kind == {"equal": 118, "different": 118}
    assert build_claims(benchmark) == 0
    idea = benchmark.topics.first().ideas.first()
    idea.state, idea.reason = "excluded", "unclear"
    idea.save()
    assert benchmark.claims.usable().filter(kind="equal").count() == 115
