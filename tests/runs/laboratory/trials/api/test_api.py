"""Benchmarks and trials by token: made, read, controlled."""

import pytest
from django.urls import reverse

from issues.judge_templates.lifecycle import load_builtin_templates
from issues.models import JudgeTemplate
from runs.laboratory.trials.models import Artifact, Benchmark, GenerationRun, Trial
from tests.api import client_of, ids, problems_in
from tests.runs.laboratory.trials.sample_benchmark import judged_by, make_benchmark, right
from tests.runs.laboratory.trials.writers import write

pytestmark = pytest.mark.django_db(transaction=True)

PATHS = ["description > python > summary", "description > java > summary"]


@pytest.fixture
def script():
    return client_of("maintainer")


@pytest.fixture
def similarity():
    load_builtin_templates()
    return JudgeTemplate.objects.get(family="similarity")


def post(client, name, body=None, *args):
    return client.post(reverse(name, args=args), body or {}, content_type="application/json")


def get(client, name, *args, **query):
    return client.get(reverse(name, args=args), query)


def started(client, name, body, *args):
    """What was started, once its estimate was read and accepted."""
    estimate = post(client, name, body, *args)
    assert estimate.status_code == 200, estimate.content
    made = post(client, name, body | {"accepted_calls": estimate.json()["calls_low"]}, *args)
    assert made.status_code == 201, made.content
    return made.json()


def test_texts_are_generated_only_once_their_estimate_is_accepted(script, model_at):
    body = {"language_model": model_at().pk}

    estimate = post(script, "api-benchmark-small", body)
    wrong = post(script, "api-benchmark-small", body | {"accepted_calls": 1})

    assert (estimate.status_code, wrong.status_code) == (200, 409), estimate.content
    assert estimate.json()["calls_high"] >= estimate.json()["calls_low"] > 1
    assert str(estimate.json()["calls_low"]) in wrong.json()["detail"]
    assert not GenerationRun.objects.exists()
    assert not Benchmark.objects.exists()


def test_a_script_makes_a_benchmark_has_it_written_and_reads_its_claims(
    provider, model_at, work, script
):
    provider.script = write
    topics = [{"title": "Strings"}, {"title": "Sorting", "is_cluster": True}]
    made = post(script, "api-benchmark-list", {"name": "Mine", "topics": topics, "paths": PATHS})
    assert made.status_code == 201, made.content
    pk = made.json()["id"]
    order = {"language_model": model_at().pk, "settings": {"ideas_per_topic": 2}}

    run = started(script, "api-benchmark-generate", order, pk)
    assert (run["items"]["pending"], run["expected"]) == (2, 2 + 4 * 5)
    assert post(script, "api-generation-run-pause", None, run["id"]).json()["state"] == "paused"
    assert post(script, "api-generation-run-resume", None, run["id"]).json()["state"] == "live"
    work()

    built = post(script, "api-benchmark-build-claims", None, pk).json()
    claims = get(script, "api-claim-list", benchmark=pk, page_size=1000)
    assert len(ids(claims)) == built["claims"] == built["added"] > 0
    assert {row["truth"] for row in claims.json()["results"]} == {True, False}
    read = get(script, "api-benchmark-detail", pk).json()
    assert (read["topics"], read["clusters"], read["ideas"], read["claims"]) == (
        *(2, 1, 4),
        built["claims"],
    )
    assert [path["name"] for path in read["paths"]] == PATHS
    summaries = get(script, "api-benchmark-text-list", benchmark=pk, kind="summary")
    assert len(ids(summaries)) == 8
    assert len(ids(get(script, "api-idea-list", benchmark=pk, state="active"))) == 4

    fresh = started(script, "api-benchmark-fresh", {"seed": 9}, pk)
    assert Benchmark.objects.get(pk=fresh["benchmark"]).parent_id == pk


def test_a_script_tries_a_judge_and_reads_its_measures(model_at, similarity, script):
    benchmark = make_benchmark()
    body = {
        "benchmark": benchmark.pk,
        "judges": [
            {"language_model": model_at().pk, "template": similarity.pk},
            {"metric": "rouge_l", "threshold": 0.45},
        ],
    }
    made = post(script, "api-trial-list", body)
    assert made.status_code == 201, made.content
    judge, metric = made.json()
    assert (judge["threshold"], metric["threshold"]) == (4.0, 0.45)
    assert metric["items"]["pending"] == 2 * benchmark.claims.count()
    assert post(script, "api-trial-cancel", None, judge["id"]).json()["state"] == "cancelled"
    assert post(script, "api-trial-cancel", None, judge["id"]).status_code == 409

    judged_by(Trial.objects.get(pk=judge["id"]), right)
    found = get(script, "api-trial-detail", judge["id"]).json()["measures"]
    assert found["all"]["balanced_accuracy"]["value"] == 1
    assert found["all"]["counts"]["true_pass"] > 0
    assert set(found["tasks"]) == {"rank", "similarity", "summary"}
    judgments = get(script, "api-claim-judgment-list", trial=judge["id"], order=1)
    assert {row["state"] for row in judgments.json()["results"]} == {"done"}


@pytest.mark.parametrize(
    ("judge", "problem"),
    [
        ({}, "Name either a language_model"),
        ({"metric": "rouge_l", "threshold": 1.5}, "less than or equal to 1"),
        ({"metric": "bleu"}, "is not a valid choice"),
        ({"metric": "rouge_l", "treshold": 0.4}, "Unknown field 'treshold'"),
    ],
)
def test_a_wrong_judge_is_refused_with_its_value(judge, problem, script):
    body = {"benchmark": make_benchmark().pk, "judges": [judge]}
    refused = post(script, "api-trial-list", body)
    assert refused.status_code == 400
    assert problem in refused.content.decode()
    assert not Trial.objects.exists()


def test_labelled_pairs_are_imported_or_each_problem_is_named(script):
    pairs = [{"left": "a", "right": "b", "label": True}, {"left": "a", "right": "c"}]
    refused = post(script, "api-benchmark-import-claims", {"name": "Real", "claims": pairs})
    assert refused.status_code == 400
    problem = problems_in(refused)["claims"][0]
    assert problem.startswith("Line 2: label and score are missing")

    made = post(script, "api-benchmark-import-claims", {"name": "Real", "claims": pairs[:1]})
    assert (made.status_code, made.json()["claims"]) == (201, 1)


def test_a_sealed_benchmark_is_not_there_for_who_may_not_read_it(script):
    benchmark = make_benchmark(sealed=True)
    viewer = client_of("viewer")
    for name in ("benchmark", "idea", "benchmark-text", "claim"):
        assert ids(get(script, f"api-{name}-list"))
        assert ids(get(viewer, f"api-{name}-list")) == []
    assert get(viewer, "api-benchmark-detail", benchmark.pk).status_code == 404
    text = Artifact.objects.first()
    assert get(viewer, "api-benchmark-text-detail", text.pk).status_code == 404
