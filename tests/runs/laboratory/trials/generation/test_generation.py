"""Generation of benchmarks against a scripted provider: calls, parents, exclusions, control."""

from collections import Counter
from functools import partial

import pytest

from evalhub.models import BatchState, ItemState
from evalhub.refusals import Refused
from evalhub.work.control import cancel, resume, retry_errors
from runs.laboratory.trials.benchmarks.new_benchmarks import (
    NewTopic,
    fresh_instance,
    generate_fresh,
    make_due_instances,
    new_benchmark,
    set_paths,
)
from runs.laboratory.trials.claims.claim_rule import ArtifactFacts, Kind, claims_of
from runs.laboratory.trials.generation.generation_runs import GenerationOrder, start
from runs.laboratory.trials.generation.generation_settings import GenerationSettings
from runs.laboratory.trials.models import Artifact, Benchmark, Idea, IdeaState, Stage, Validity
from tests.factories import make_model
from tests.provider import CONTEXT_TOO_LONG, prompt
from tests.runs.laboratory.trials.writers import CLUSTERS, PAPER_TOPICS, paper_benchmark, write

pytestmark = pytest.mark.django_db(transaction=True)

PAPER = GenerationSettings(ideas_per_topic=10, ideas_per_cluster=8)


def small(**fields):
    topics = [NewTopic("Strings"), NewTopic("Sorting", is_cluster=True)]
    paths = ["description > python > summary", "description > cobol > summary"]
    return new_benchmark("Small", topics, paths, by=None, **fields)


def order_of(benchmark, model, stage=Stage.ARTIFACTS, **settings):
    chosen = GenerationSettings(**({"ideas_per_topic": 2} | settings))
    return GenerationOrder(benchmark, stage, model, settings=chosen)


@pytest.fixture
def generate(provider, model_at, work):
    """Has a stage of a benchmark written, and returns the run once it is done."""
    provider.script = write
    model = model_at()

    def run_of(benchmark, *stage, **settings):
        run = start(order_of(benchmark, model, *stage, **settings), by=None)
        work()
        run.refresh_from_db()
        return run

    return run_of


def facts_of(benchmark, *topics):
    """The usable artifacts, as claims see them."""
    rows = benchmark.artifacts.reference().usable().select_related("idea__topic")
    every = {row.pk: row for row in benchmark.artifacts.all()}
    found = []
    for row in rows.filter(idea__topic__title__in=topics):
        line = [row]
        while line[0].parent_id:
            line.insert(0, every[line[0].parent_id])
        topic = row.idea.topic
        found.append(
            ArtifactFacts(
                row.pk,
                row.idea_id,
                topic.pk,
                topic.is_cluster,
                tuple(one.kind for one in line),
                is_code=row.kind in ("python", "java", "cobol"),
                ancestors=tuple(one.pk for one in line[:-1]),
            )
        )
    return found


def test_the_experiment_of_the_paper_in_its_shape(provider, model_at, work):
    lost = {("SQL copper", "Java"), ("Logic ember", "Python")}
    provider.script = partial(write, corrupted=lost)
    benchmark = paper_benchmark()
    run = start(
        GenerationOrder(benchmark, Stage.ARTIFACTS, model_at(is_scripted=True), settings=PAPER),
        by=None,
    )
    work()

    run.refresh_from_db()
    benchmark.refresh_from_db()
    assert (run.state, run.is_scripted, benchmark.is_scripted) == (BatchState.DONE, True, True)
    assert Idea.objects.filter(state=IdeaState.ACTIVE).count() == 4 * 10 + 2 * 8
    # 6 requests for ideas; of each idea a description, 3 programs and 3 summaries, but no summary
    # of the two corrupted programs.
    assert run.expected == 6 + 56 * 7
    assert provider.total == run.steps.count() == run.expected - 2
    left_out = Artifact.objects.filter(validity=Validity.CORRUPTED)
    assert {(one.idea.name, one.kind) for one in left_out} == {
        ("SQL copper", "java"),
        ("Logic ember", "python"),
    }
    assert all("cannot be parsed" in one.validity_reason for one in left_out)
    assert Artifact.objects.filter(kind="cobol", validity=Validity.NOT_CHECKED).count() == 56
    equality = (Kind.EQUAL, Kind.DIFFERENT)
    main = Counter(
        c.kind for c in claims_of(facts_of(benchmark, *PAPER_TOPICS), seed=1, kinds=equality)
    )
    hard = Counter(
        c.kind for c in claims_of(facts_of(benchmark, *CLUSTERS), seed=1, kinds=equality)
    )
    assert {kind: 2 * n for kind, n in main.items()} == {"equal": 232, "different": 232}
    assert 2 * hard.total() == 192


def test_paths_share_their_beginning_and_each_artifact_knows_its_parent(provider, generate):
    benchmark = small()
    set_paths(benchmark, ["description > python > summary", "description > python > java > python"])
    generate(benchmark)

    kinds = Counter(Artifact.objects.values_list("kind", "parent__kind"))
    assert kinds == {
        ("description", None): 4,
        ("python", "description"): 4,
        ("summary", "python"): 4,
        ("java", "python"): 4,
        ("python", "java"): 4,
    }
    assert provider.total == 2 + 20


def test_a_run_by_stages_makes_what_is_missing_and_nothing_twice(provider, generate):
    benchmark = small()
    stages = (Stage.IDEAS, Stage.DESCRIPTIONS, Stage.ARTIFACTS, Stage.ARTIFACTS)
    runs = [generate(benchmark, stage) for stage in stages]

    made = [(run.state, run.expected, run.steps.count()) for run in runs]
    assert made == [("done", 2, 2), ("done", 4, 4), ("done", 16, 16), ("done", 0, 0)]
    assert provider.total == 22


def test_an_excluded_description_has_no_programs(generate):
    benchmark = small()
    generate(benchmark, Stage.DESCRIPTIONS)
    one = Artifact.objects.first()
    Artifact.objects.filter(pk=one.pk).update(review="excluded", review_reason="Too vague")

    generate(benchmark)

    assert not one.children.exists()
    assert Artifact.objects.filter(kind="summary").count() == 2 * 3


def test_near_duplicates_among_ideas_are_dropped_and_counted(provider, generate):
    provider.script = lambda request: write(request).replace("birch", "amber")
    run = generate(small(), Stage.IDEAS, ideas_per_topic=3)

    assert sorted(run.steps.values_list("dropped", flat=True)) == [1, 1]
    dropped = Idea.objects.filter(state=IdeaState.DROPPED)
    assert sorted(dropped.values_list("reason", flat=True)) == [
        "It repeats “Sorting amber”.",
        "It repeats “Strings amber”.",
    ]


def test_a_failed_step_is_an_error_and_its_retry_makes_what_follows(provider, generate, work):
    provider.script = lambda request: (
        CONTEXT_TOO_LONG if "Python" in prompt(request) else write(request)
    )
    run = generate(small())
    errors = run.steps.filter(state=ItemState.ERROR)
    assert set(errors.values_list("kind", flat=True)) == {"python"}
    assert Artifact.objects.filter(kind="summary").count() == 4

    provider.script = write
    assert retry_errors(run) == 4
    work()
    run.refresh_from_db()
    assert run.state == BatchState.DONE
    assert Artifact.objects.filter(kind="summary").count() == 8


def test_a_cancelled_run_keeps_what_it_wrote_and_resumes(provider, model_at, work):
    provider.script = write
    run = start(order_of(small(), model_at()), by=None)
    cancel(run)
    work()
    assert provider.total == 0

    run.refresh_from_db()
    resume(run)
    work()
    assert Artifact.objects.count() == 4 * 5


def test_the_model_completes_the_list_of_topics_from_examples_outside(provider, generate):
    benchmark = small()
    generate(benchmark, Stage.TOPICS, topics=2, outside=["Parse a bank statement"])

    assert "Parse a bank statement" in prompt(provider.requests[0])
    assert list(benchmark.topics.filter(source="model").values_list("title", "version")) == [
        ("Category birch", 2),
        ("Category copper", 2),
    ]


def test_too_few_clusters_no_path_and_an_open_run_are_refused():
    model = make_model()
    plain = new_benchmark("Plain", [NewTopic("A"), NewTopic("B")], [], by=None)
    with pytest.raises(Refused) as refused:
        start(order_of(plain, model), by=None)
    assert [problem.split(":")[0] for problem in refused.value.problems] == [
        "0 of 2 topics are clusters",
        "The benchmark has no path",
    ]
    benchmark = small()
    start(order_of(benchmark, model), by=None)
    with pytest.raises(Refused, match="is running: end it first"):
        start(order_of(benchmark, model), by=None)


def test_a_sealed_benchmark_is_sent_to_no_model_outside_the_trusted_network():
    outside = make_model(api_base="")
    with pytest.raises(Refused, match="outside the trusted network"):
        start(order_of(small(sealed=True), outside), by=None)


def test_a_fresh_instance_has_ideas_of_its_own(provider, generate, work):
    benchmark = small()
    generate(benchmark)
    provider.script = partial(write, instance="anew")
    run = generate_fresh(benchmark, by=None)
    work()

    fresh = run.benchmark
    assert (fresh.parent, fresh.seed) == (benchmark, benchmark.seed + 1)
    names = [
        set(Idea.objects.filter(topic__benchmark=one).values_list("name", flat=True))
        for one in (benchmark, fresh)
    ]
    assert len(names[1]) == 4
    assert not names[0] & names[1]
    requests = [prompt(r) for r in provider.requests if "Do not repeat" in prompt(r)]
    assert sum("Strings amber" in text for text in requests) == 1


def test_a_fresh_instance_that_repeats_an_idea_drops_it(provider, generate):
    benchmark = small()
    generate(benchmark, Stage.IDEAS)
    instance = fresh_instance(benchmark, by=None, instruction="Use other names.")
    generate(instance, Stage.IDEAS)

    states = Idea.objects.filter(topic__benchmark=instance).values_list("state", flat=True)
    assert set(states) == {IdeaState.DROPPED}
    assert "Use other names." in prompt(provider.requests[-1])


def test_a_fresh_instance_is_generated_when_it_is_due(provider, generate, work):
    benchmark = small()
    generate(benchmark)
    benchmark.start_schedule("0 6 1 * *")
    assert make_due_instances() == 0
    Benchmark.objects.filter(pk=benchmark.pk).update(next_at=benchmark.created_at)

    assert make_due_instances() == 1
    provider.script = partial(write, instance="anew")
    work()

    benchmark.refresh_from_db()
    instance = benchmark.instances.get()
    assert benchmark.last_outcome == f"Made {instance}."
    assert instance.artifacts.count() == 4 * 5


def test_a_schedule_of_a_benchmark_that_was_never_generated_says_so():
    benchmark = small()
    benchmark.start_schedule("0 6 1 * *")
    Benchmark.objects.filter(pk=benchmark.pk).update(next_at=benchmark.created_at)
    make_due_instances()
    benchmark.refresh_from_db()
    assert benchmark.last_outcome == "Refused: Small was never generated: generate it first."
