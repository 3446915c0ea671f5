"""Agreement of judges with annotators, on the pages of trials, benchmarks and replays."""

import pytest

from issues.models import JudgeTemplate
from reports.documents.reading import Reading
from reports.judge_reliability.trials.agreement import of_claims, of_replays
from runs.laboratory.trials.claims.labels import label_claim, next_claim
from runs.laboratory.trials.models import GenerationRun
from runs.models import HumanEvaluation
from tests.factories import make_model, make_user
from tests.reports.judged_runs import judged
from tests.runs.laboratory.trials.sample_benchmark import always_7, make_benchmark, right, tried

pytestmark = pytest.mark.django_db


def people_say_the_truth(benchmark, n, by):
    """Label the next claims as the benchmark does."""
    for _ in range(n):
        shown = next_claim(benchmark, by=by)
        if shown.is_rank:
            option = "A" if shown.claim.truth != bool(shown.order) else "B"
        else:
            option = "6" if shown.claim.truth else "2"
        label_claim(shown.claim, option, by=by)


@pytest.fixture
def benchmark():
    return make_benchmark(topics=3, ideas=2)


def test_each_judge_is_measured_on_what_annotators_labelled(client, benchmark):
    template = JudgeTemplate.objects.get(family="similarity")
    sound = tried(benchmark, "Sound", right, template=template)
    yes = tried(benchmark, "Yes-sayer", always_7, template=template)
    user = make_user("annotator")
    people_say_the_truth(benchmark, 40, user)

    own, good, bad = of_claims(benchmark, [sound, yes])
    assert [(row[1].passed, row[1].n) for row in (own, good)] == [(40, 40)] * 2
    assert own[1].interval is not None
    true = sum(benchmark.claims.get(pk=pk).truth for pk in labelled(benchmark))
    assert (bad[1].passed, bad[2].share, bad[3].share) == (true, 1, 0)
    assert {row[4] for row in (own, good, bad)} == {""}
    client.force_login(user)
    page = client.get(sound.get_absolute_url()).content.decode()
    assert "Agreement with annotators on claims" in page
    assert "40/40" in page or "40 of 40" in page


def labelled(benchmark):
    return set(benchmark.claims.filter(labels__isnull=False).values_list("pk", flat=True))


def test_too_few_labels_conclude_nothing_and_say_how_many_are_needed(client, benchmark):
    trial = tried(
        benchmark, "Sound", right, template=JudgeTemplate.objects.get(family="similarity")
    )
    user = make_user("annotator")
    client.force_login(user)
    assert "needs more verdicts: none yet" in client.get(trial.get_absolute_url()).content.decode()

    people_say_the_truth(benchmark, 3, user)
    _, row = of_claims(benchmark, [trial])
    assert (row[1].passed, row[1].n) == (3, 3)
    assert row[4].startswith("needs more verdicts: ")
    assert "more human" in row[4]


def test_judges_of_a_replay_are_measured_on_its_random_sample_alone(client, benchmark):
    run, other = judged(*[[1, 0]] * 12), judged(*[[1, 1]] * 3)
    model = make_model(name="Tested")
    for each in (run, other):
        GenerationRun.objects.create(
            benchmark=benchmark,
            language_model=model,
            endpoint={},
            tested_model=model,
            tested_endpoint={},
            run=each,
            state="done",
        )
    annotator = make_user("annotator")
    for result in run.results.select_related("revision").all():
        HumanEvaluation.objects.create(
            result=result,
            criterion=result.revision.criteria.get(),
            annotator=annotator,
            value=1.0,
            blind=True,
            chosen_by="queue_random",
        )
    replays = list(benchmark.generation_runs.all())

    rows = {row[0]: row for row in of_replays(replays, Reading(annotator))}

    assert len(rows) == 4  # two judges, both together, and the run that nobody has reviewed
    assert rows[f"Judges of {other}, Tested"][1:] == (*[None] * 3, "needs more verdicts: none yet")
    good, bad = (rows[f"{name}, Tested"] for name in names(run))
    assert (good[1].passed, good[1].n) == (12, 12)
    assert (bad[1].passed, bad[1].n) == (0, 12)
    assert "10 more human fails" in good[4]
    client.force_login(annotator)
    page = client.get(benchmark.get_absolute_url()).content.decode()
    assert ">Agreement with annotators on models under test</h3>" in page


def names(run):
    return [judge["name"] for judge in run.judge_runs.get().jury["judges"]]
