"""Replays of paths with a model under test: calls, storage, results, exposure and review."""

import re
from collections import Counter
from functools import partial

import pytest

from evalhub.models import BatchState
from evalhub.refusals import Refused
from runs.laboratory.trials.benchmarks.artifact_review import expose
from runs.laboratory.trials.benchmarks.composed_programs import compose_programs
from runs.laboratory.trials.benchmarks.new_benchmarks import NewTopic, new_benchmark
from runs.laboratory.trials.generation.generation_estimate import estimate
from runs.laboratory.trials.generation.generation_runs import GenerationOrder, start
from runs.laboratory.trials.generation.generation_settings import GenerationSettings
from runs.laboratory.trials.models import Artifact, Idea, Stage
from runs.laboratory.trials.replays.replay_runs import figures_of, sample_for_review
from runs.models import Result
from tests.factories import make_jury
from tests.provider import CONTEXT_TOO_LONG, prompt, verdict
from tests.runs.laboratory.trials.writers import write

pytestmark = pytest.mark.django_db(transaction=True)

TOPICS = [NewTopic("Strings"), NewTopic("Sorting", is_cluster=True)]
BACK = "description > cobol > summary* > description"
SUMMARY = "description > cobol > summary*"


class Models:
    """A trusted writer, a tested one and a judge at one provider, told apart by their names."""

    def __init__(self, provider, model_at):
        self.provider = provider
        self.trusted = model_at(litellm_model="openai/trusted")
        self.tested = model_at(litellm_model="openai/tested")
        self.judge = model_at(litellm_model="openai/judge")
        self.jury = make_jury(self.judge)
        self.tested_script = write
        provider.script = self.reply

    def reply(self, request):
        if request["model"] == "judge":
            return count_steps(request)
        return self.tested_script(request) if request["model"] == "tested" else write(request)

    @property
    def calls(self):
        """Calls by model since the last look, without those of the judge."""
        found = Counter(request["model"] for request in self.provider.requests)
        self.provider.clear()
        return {name: n for name, n in found.items() if name != "judge"}


def count_steps(request):
    """A judge by rule: the second text must name every step that the first one names."""
    first, second = prompt(request).split("## First text")[1].split("## Second text")
    steps = [set(re.findall(r"(?:open|turn|close) \w+(?: \w+)?", text)) for text in (first, second)]
    return verdict(7 if steps[0] <= steps[1] else 3)


@pytest.fixture
def models(provider, model_at):
    return Models(provider, model_at)


def benchmark_of(*paths):
    reference = ["description > cobol > summary", "description > java > summary"]
    return new_benchmark("Loops", TOPICS, [*reference, *paths], by=None)


def generated(models, work, *paths, ideas=3):
    """A benchmark with these paths beside those of its reference, which is written."""
    benchmark = benchmark_of(*paths)
    settings = GenerationSettings(ideas_per_topic=ideas)
    order = GenerationOrder(benchmark, Stage.ARTIFACTS, models.trusted, settings=settings)
    start(order, by=None)
    work()
    models.provider.clear()
    return benchmark


def order_of(benchmark, models, path=BACK, tested=None, jury=None):
    return GenerationOrder(
        benchmark,
        Stage.ARTIFACTS,
        models.trusted,
        tested or models.tested,
        benchmark.paths.filter(name=path) if path else (),
        GenerationSettings(jury=(jury or models.jury).pk, release="2"),
    )


def replay(benchmark, models, work, path=BACK, tested=None):
    run = start(order_of(benchmark, models, path, tested), by=None)
    work()
    run.refresh_from_db()
    return run


def test_a_first_replay_takes_three_calls_an_idea_and_later_ones_two(models, work, model_at):
    benchmark = new_benchmark("Loops", TOPICS, [BACK], by=None)
    for topic in benchmark.topics.all():
        idea = Idea.objects.create(topic=topic, name=topic.title)
        text = f"{topic}. Steps: 1. open {topic}. 2. turn {topic}. 3. close {topic}."
        Artifact.objects.create(
            benchmark=benchmark, idea=idea, kind="description", source="human", text=text
        )

    first = replay(benchmark, models, work)
    assert models.calls == {"trusted": 2 * 2, "tested": 2}  # D-C and S-D', C-S
    stored = list(Artifact.objects.reference().values_list("pk", "text"))

    other = model_at(litellm_model="openai/tested")
    second = replay(benchmark, models, work, tested=other)
    assert models.calls == {"trusted": 2, "tested": 2}  # S-D', C-S
    assert list(Artifact.objects.reference().values_list("pk", "text")) == stored
    assert {run.state for run in (first, second)} == {BatchState.DONE}
    assert first.artifacts.count() == second.artifacts.count() == 4
    tested = second.artifacts.filter(is_tested=True)
    assert set(tested.values_list("language_model", flat=True)) == {other.pk}


def test_a_summary_against_a_stored_one_takes_one_call(models, work):
    benchmark = generated(models, work, SUMMARY)

    run = replay(benchmark, models, work, SUMMARY)

    assert models.calls == {"tested": 6}
    assert Counter(run.run.results.values_list("outcome", flat=True)) == {"passed": 6}


def test_a_model_that_drops_a_step_in_k_of_n_summaries_fails_exactly_k(models, work):
    benchmark = generated(models, work, BACK)
    good = replay(benchmark, models, work)
    models.tested_script = partial(write, dropped_step=["Strings amber", "Sorting copper"])
    bad = replay(benchmark, models, work)

    outcomes = [Counter(one.run.results.values_list("outcome", flat=True)) for one in (good, bad)]
    assert outcomes == [{"passed": 6}, {"passed": 4, "failed": 2}]
    failed = Result.objects.filter(run=bad.run, outcome="failed").select_related("test")
    names = {Idea.objects.get(pk=one.test.source_id.rpartition("-")[2]).name for one in failed}
    assert names == {"Strings amber", "Sorting copper"}
    # One line of a trend: the same suite, tests and revisions.
    assert good.run.suite_fingerprint == bad.run.suite_fingerprint
    assert good.run.variant_key == bad.run.variant_key
    assert (bad.run.suite, bad.run.release) == (good.run.suite, "2")


def test_a_failed_step_is_an_error_and_no_failure(models, work):
    benchmark = generated(models, work, SUMMARY)
    models.tested_script = lambda request: (
        CONTEXT_TOO_LONG if "Strings amber" in prompt(request) else write(request)
    )
    run = replay(benchmark, models, work, SUMMARY)

    outcomes = Counter(run.run.results.values_list("outcome", flat=True))
    assert outcomes == {"passed": 5, "error": 1}


def test_the_issue_says_what_goes_wrong_without_the_texts(models, work):
    benchmark = generated(models, work, SUMMARY)
    issue = replay(benchmark, models, work, SUMMARY).run.results.first().issue

    assert "COBOL" in issue.generic_statement
    assert "summary" in issue.generic_statement
    assert "amber" not in issue.generic_statement + issue.title


def test_exposed_and_fresh_ideas_are_counted_apart(models, work):
    benchmark = generated(models, work, SUMMARY)
    models.tested_script = partial(write, dropped_step=["Strings amber"])
    idea = Idea.objects.get(name="Strings amber")
    expose(idea.artifacts.values_list("pk", flat=True))
    run = replay(benchmark, models, work, SUMMARY)

    (figures,) = figures_of([run])
    assert (figures.exposed, figures.fresh) == ({"failed": 1}, {"passed": 5})
    expose(Artifact.objects.values_list("pk", flat=True))  # what was answered before stays fresh
    assert figures_of([run])[0].fresh == {"passed": 5}


def test_a_random_sample_goes_to_a_queue_of_its_own_once(models, work):
    benchmark = generated(models, work, SUMMARY, ideas=15)
    run = replay(benchmark, models, work, SUMMARY)

    queue = sample_for_review(run, by=None)

    items = queue.items.values_list("result", "is_random")
    assert len({result for result, _ in items}) == 25
    assert {is_random for _, is_random in items} == {True}
    with pytest.raises(Refused, match="has it already"):
        sample_for_review(run, by=None)


def test_paths_with_an_equal_beginning_share_its_calls_and_are_one_run(models, work):
    benchmark = generated(models, work, BACK, SUMMARY)
    models.tested_script = partial(write, dropped_step=["Strings amber"])

    run = replay(benchmark, models, work, None)

    # The summary once for both paths, and the description after it.
    assert models.calls == {"tested": 6, "trusted": 6}
    results = run.run.results.select_related("test__issue")
    by_path = {
        path: Counter(results.filter(issue__title__endswith=path).values_list("outcome", flat=True))
        for path in (BACK, SUMMARY)
    }
    assert by_path == {path: {"passed": 5, "failed": 1} for path in (BACK, SUMMARY)}
    again = replay(benchmark, models, work, None)
    assert models.calls == {"tested": 6, "trusted": 6}
    assert again.run.suite == run.run.suite
    assert again.run.suite_fingerprint == run.run.suite_fingerprint
    assert replay(benchmark, models, work, SUMMARY).run.suite != run.run.suite


def test_a_failed_step_is_an_error_of_the_paths_it_is_on_alone(models, work):
    benchmark = generated(models, work, BACK, SUMMARY)
    trusted = models.reply
    models.provider.script = lambda request: (
        CONTEXT_TOO_LONG if request["model"] == "trusted" else trusted(request)
    )

    run = replay(benchmark, models, work, None)

    outcomes = run.run.results.values_list("issue__title", "outcome")
    assert Counter((title.rpartition(": ")[2], outcome) for title, outcome in outcomes) == {
        (BACK, "error"): 6,
        (SUMMARY, "passed"): 6,
    }


def test_a_replay_is_estimated_by_its_results_and_refused_before_its_calls(models, work):
    benchmark = generated(models, work, SUMMARY)
    compose_programs(benchmark, 2)
    order = order_of(benchmark, models, SUMMARY)
    calls = estimate(lambda: start(order, by=None)).calls
    itself = order_of(benchmark, models, SUMMARY, jury=make_jury(models.tested))
    with pytest.raises(Refused, match="would judge its own texts"):
        start(itself, by=None)

    run = replay(benchmark, models, work, SUMMARY)

    assert calls.low == len(models.provider.requests)
    assert run.run.results.count() == 6


def test_a_replay_needs_a_path_with_a_tested_edge(models):
    benchmark = benchmark_of(BACK, SUMMARY)
    order = GenerationOrder(benchmark, Stage.ARTIFACTS, models.trusted, models.tested)
    order.paths = benchmark.paths.filter(name="description > java > summary")
    with pytest.raises(Refused, match="No path has a tested edge"):
        start(order, by=None)
