"""Pages of benchmarks: texts, their review, generation, and imports."""

import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from runs.laboratory.trials.generation.generation_runs import start
from runs.laboratory.trials.models import Artifact, Benchmark, GenerationRun, Idea
from runs.review.models import Queue
from tests.factories import make_user
from tests.runs.laboratory.trials.generation.test_generation import order_of, small
from tests.runs.laboratory.trials.replays.test_replays import SUMMARY, Models
from tests.runs.laboratory.trials.replays.test_replays import generated as generated_by
from tests.runs.laboratory.trials.writers import write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def generated(provider, model_at, work):
    provider.script = lambda request: write(request, corrupted=[("Strings amber", "Python")])
    benchmark = small()
    start(order_of(benchmark, model_at(is_scripted=True)), by=None)
    work()
    return benchmark


@pytest.fixture
def browser(client):
    client.force_login(make_user("maintainer"))
    return client


def begin(browser, url, sent):
    """Have a start estimated, and confirm the number of calls that the page shows; return it."""
    page = browser.post(url, sent).content.decode()
    calls = re.search(r'name="start" value="(\d+)"', page)[1]
    browser.post(url, {**sent, "start": calls})
    return int(calls)


def test_the_page_shows_every_text_the_corrupted_ones_and_the_label_of_scripted_models(
    generated, browser, django_assert_max_num_queries
):
    with django_assert_max_num_queries(40):
        page = browser.get(generated.get_absolute_url()).content.decode()

    assert "scripted endpoint, not a model" in page
    assert page.count(">to review<") == 4 + 3 + 7
    assert page.count(">not checked<") == 4  # COBOL has no parser here
    assert "Strings amber, python</a>: corrupted." in page
    assert page.count("–</span>") == 1  # no summary of it
    assert "cluster" in page


def test_a_benchmark_is_made_and_generated_from_its_pages(provider, model_at, work, browser):
    provider.script = write
    topics: dict[str, Any] = {"topics-TOTAL_FORMS": 1, "topics-INITIAL_FORMS": 0}
    topics |= {"topics-0-title": "Sorting", "topics-0-kind": "domain", "topics-0-is_cluster": "on"}
    sent = {"name": "Mine", "state": "draft", "seed": 7, "kinds": json.dumps(kinds()), "paths": ""}
    wrong = sent | topics | {"topics-0-place": 1, "paths": "description > rust"}
    page = browser.post(reverse("admin:trials_benchmark_add"), wrong).content.decode()
    assert "is no kind" in page
    right = wrong | {"paths": "description > python > summary"}
    browser.post(reverse("admin:trials_benchmark_add"), right)
    benchmark = Benchmark.objects.get(name="Mine")
    assert [path.name for path in benchmark.paths.all()] == ["description > python > summary"]

    url = reverse("admin:trials_benchmark_generate", args=[benchmark.pk])
    order = {"stage": "artifacts", "ideas_per_topic": 2, "max_tokens": 500}
    calls = begin(browser, url, order | {"model": model_at().pk})
    work()
    assert benchmark.artifacts.count() == 6
    assert calls == provider.total


def kinds():
    return [
        {"key": "description", "label": "description", "form": "text", "language": ""},
        {"key": "python", "label": "Python", "form": "code", "language": "Python"},
        {"key": "summary", "label": "summary", "form": "text", "language": ""},
    ]


def test_a_text_is_edited_excluded_for_a_reason_and_approved_in_bulk(generated, browser):
    one = Artifact.objects.get(kind="python", validity="corrupted")
    url = reverse("admin:trials_artifact_change", args=[one.pk])
    sent = {"text": "print('open it.')", "review": "pending", "review_reason": ""}
    browser.post(url, sent)
    one.refresh_from_db()
    assert (one.validity, one.review) == ("valid", "edited")

    page = browser.post(url, sent | {"review": "excluded"}).content.decode()
    assert "Give a reason" in page
    browser.post(url, sent | {"review": "excluded", "review_reason": "Off topic"})
    one.refresh_from_db()
    assert (one.review, one.review_reason) == ("excluded", "Off topic")

    ids = list(Artifact.objects.filter(kind="summary").values_list("pk", flat=True))
    actions = {"action": "approve", "_selected_action": ids}
    browser.post(reverse("admin:trials_artifact_changelist"), actions)
    assert Artifact.objects.filter(review="approved").count() == len(ids)


def test_an_idea_is_added_by_hand_and_excluded(generated, browser):
    topic = generated.topics.first()
    sent = {"topic": topic.pk, "name": "Trim", "statement": "Write a program that trims text."}
    sent |= {"place": 9, "state": "active", "reason": ""}
    browser.post(reverse("admin:trials_idea_add"), sent)
    idea = Idea.objects.get(name="Trim")
    assert idea.source == "human"
    url = reverse("admin:trials_idea_change", args=[idea.pk])
    assert "Give a reason" in browser.post(url, sent | {"state": "excluded"}).content.decode()


def test_a_small_benchmark_is_written_once_its_calls_and_cost_are_confirmed(
    provider, model_at, work, browser
):
    provider.script = write
    model = model_at(
        litellm_model="openai/smollm2-135m", input_usd_per_mtok=1, output_usd_per_mtok=2
    )
    url = reverse("admin:trials_benchmark_small")
    shown = browser.get(url).content.decode()
    assert "Start (38 calls)" in shown
    assert re.search(r"\$0\.\d+ to \$0\.\d+", shown)
    outdated = browser.post(url, {"model": model.pk, "start": "37"}, follow=True)
    assert "The number of calls has changed" in outdated.content.decode()
    assert not Benchmark.objects.exists()

    assert begin(browser, url, {"model": model.pk}) == 38
    run = GenerationRun.objects.get()
    work()
    assert provider.total == 38

    assert (run.benchmark.topics.count(), run.expected) == (2, 2 + 6 * 6)
    assert Artifact.objects.filter(kind="summary").count() == 18


def test_a_run_is_cancelled_and_resumed_on_the_page(provider, model_at, work, browser):
    provider.script = write
    benchmark = small()
    run = start(order_of(benchmark, model_at()), by=None)
    url = reverse("admin:trials_benchmark_act", args=[benchmark.pk])
    browser.post(url, {"act": "cancel"})
    run.refresh_from_db()
    assert run.state == "cancelled"
    browser.post(url, {"act": "resume"})
    work()
    run.refresh_from_db()
    assert run.state == "done"


def test_a_file_of_labelled_pairs_becomes_a_benchmark_or_every_problem_is_shown(browser):
    url = reverse("admin:trials_benchmark_import")
    file = SimpleUploadedFile("pairs.jsonl", b'{"left": "a", "right": "b"}')
    page = browser.post(url, {"name": "Real", "file": file}, follow=True).content.decode()
    assert "Line 1: label and score are missing" in page

    file = SimpleUploadedFile("pairs.jsonl", b'{"left": "a", "right": "b", "label": true}')
    browser.post(url, {"name": "Real", "file": file})
    assert Benchmark.objects.get().claims.count() == 1


def test_a_model_is_tested_from_the_page_and_its_sample_reviewed(provider, model_at, work, browser):
    models = Models(provider, model_at)
    benchmark = generated_by(models, work, SUMMARY)
    url = reverse("admin:trials_benchmark_replay", args=[benchmark.pk])
    path = benchmark.paths.get(name=SUMMARY)
    chosen = {"paths": path.pk, "tested_model": models.tested.pk, "model": models.trusted.pk}
    calls = begin(browser, url, chosen | {"jury": models.jury.pk, "max_tokens": 100})
    work()
    assert calls == provider.total == 6 + 6  # a text and a verdict on each

    page = browser.get(benchmark.get_absolute_url()).content.decode()
    assert "6 of 6 passed" in page
    assert "To pass on to developers" in page
    replay = benchmark.generation_runs.first()
    act = reverse("admin:trials_benchmark_act", args=[benchmark.pk])
    browser.post(act, {"act": "sample", "replay": replay.pk})
    assert Queue.objects.get().items.count() == 6


def test_a_fresh_instance_is_generated_with_a_seed_and_a_perturbation(generated, browser, work):
    url = reverse("admin:trials_benchmark_fresh", args=[generated.pk])
    begin(browser, url, {"seed": 77, "instruction": "Use names from logistics."})

    instance = generated.instances.get()
    assert (instance.seed, instance.perturbation) == (
        77,
        {"instruction": "Use names from logistics."},
    )
    assert "Fresh instance of" in browser.get(instance.get_absolute_url()).content.decode()


def test_topics_added_by_hand_are_of_a_new_version_of_the_list(browser):
    benchmark = small()
    topics = list(benchmark.topics.all())
    sent = {"name": "Small", "state": "draft", "seed": 1, "kinds": json.dumps(benchmark.kinds)}
    sent |= {"topics-TOTAL_FORMS": 3, "topics-INITIAL_FORMS": 2, "paths": ""}
    for place, topic in enumerate(topics):
        row = {"id": topic.pk, "title": topic.title, "kind": topic.kind, "place": topic.place}
        row |= {"is_cluster": "on"} if topic.is_cluster else {}
        sent |= {f"topics-{place}-{name}": value for name, value in row.items()}
    sent |= {"topics-2-title": "Dates", "topics-2-kind": "domain", "topics-2-place": 3}
    browser.post(reverse("admin:trials_benchmark_edit", args=[benchmark.pk]), sent)

    benchmark.refresh_from_db()
    assert benchmark.version == 2
    assert list(benchmark.topics.values_list("title", "version")) == [
        ("Strings", 1),
        ("Sorting", 1),
        ("Dates", 2),
    ]
