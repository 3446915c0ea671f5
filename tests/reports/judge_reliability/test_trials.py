"""The report on trials: what a newcomer reads, its filters, files and marks."""

import csv
import io

import pytest
from django.urls import reverse

from issues.judge_templates.lifecycle import new_version
from issues.models import JudgeTemplate
from reports.judge_reliability.judges.position_bias_query import swapped_by_model
from reports.judge_reliability.trials.fit_rule import Fit
from reports.judge_reliability.trials.query import trial_report
from runs.laboratory.trials.judges.trial_judges import TrialJudge
from runs.laboratory.trials.models import Validation
from runs.laboratory.tuning.models import Split
from tests.factories import make_user
from tests.runs.laboratory.trials.sample_benchmark import (
    always_7,
    first_only,
    make_benchmark,
    right,
    tried,
)
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db


@shared_data
def similarity():
    return JudgeTemplate.objects.get(family="similarity")


@shared_data
def benchmark(similarity):
    benchmark = make_benchmark(topics=3, ideas=6, clusters=2, cluster_ideas=6, name="Sorting")
    for name, judge in (("Sound", right), ("Yes-sayer", always_7), ("First-glance", first_only)):
        tried(benchmark, name, judge, template=similarity)
    return benchmark


def page(client, benchmark, **filters):
    query = {"tab": "trials", "benchmark": benchmark.pk, **filters}
    return client.get(reverse("reports:judge_reliability"), query)


def text_of(response):
    return response.content.decode()


def test_one_sentence_per_judge_says_what_it_is_fit_for_and_the_first_table_why(client, benchmark):
    client.force_login(make_user("viewer"))
    document = page(client, benchmark).context["document"]

    best, sound, yes, first = document.sentences
    assert best.startswith("Sound is the best judge.")
    assert sound == (
        "Sound is fit for choosing the better of two texts, telling if two texts mean the same, "
        "judging how useful summaries are."
    )
    assert yes == "Yes-sayer is not fit for any of 3 tasks."
    assert first == "First-glance is not fit for any of 3 tasks."

    why = {(row["judge"], row["task"]): row["reason"] for row in document.tables[0].as_rows()}
    similarity, better = "similarity of two texts", "better of two texts"
    assert why["Yes-sayer", similarity].startswith("It takes related programs for the same")
    assert "prefers the text that is shown first, on 100%" in why["Yes-sayer", better]
    assert why["First-glance", similarity].startswith("It changes its verdict when")
    assert why["Sound", similarity] == "It meets all conditions."


def test_scripted_endpoints_are_flagged_on_page_and_files(client, benchmark):
    client.force_login(make_user("viewer"))
    flag = "scripted endpoint, not a model"
    assert flag in text_of(page(client, benchmark))
    for ending in ("json", "md", "html"):
        address = reverse("reports:judge_reliability_download", args=[ending])
        found = client.get(address, {"tab": "trials", "benchmark": benchmark.pk})
        assert flag in text_of(found)
    rows = judgments_csv(client, benchmark)
    assert {row["is_scripted"] for row in rows} == {"True"}


def judgments_csv(client, benchmark, **filters):
    address = reverse("reports:judge_reliability_download", args=["csv"])
    query = {"tab": "trials", "benchmark": benchmark.pk, "table": "judgments", **filters}
    found = b"".join(client.get(address, query).streaming_content).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(found)))


def test_files_have_every_judgment(client, benchmark):
    client.force_login(make_user("viewer"))

    assert len(judgments_csv(client, benchmark)) == 3 * 2 * benchmark.claims.count()
    reversed_only = judgments_csv(client, benchmark, order="1", kind="rank")
    assert {row["order"] for row in reversed_only} == {"reversed"}
    assert len(reversed_only) == 3 * benchmark.claims.filter(kind="rank").count()


def test_filters_narrow_measures_and_leave_conclusions(client, benchmark):
    client.force_login(make_user("viewer"))
    everything = page(client, benchmark).context["document"]
    equal = page(client, benchmark, kind="equal").context["document"]

    assert equal.sentences == everything.sentences
    yes = equal.table("fitness").as_rows()[1]
    assert yes["true_found"].share == 1
    assert yes["false_found"] is None
    assert equal.table("claims").rows.keys == sorted(
        benchmark.claims.filter(kind="equal").values_list("pk", flat=True)
    )


def test_claims_are_listed_by_their_verdicts(client, benchmark):
    client.force_login(make_user("viewer"))

    def listed(verdict):
        found = page(client, benchmark, verdict=verdict).context["document"]
        return len(found.table("claims").rows)

    for verdict in ("wrong", "split", "orders"):
        assert 0 < listed(verdict) <= benchmark.claims.count(), verdict
    assert listed("failed") == 0


def test_queries_do_not_grow_with_claims_and_judges(
    client, similarity, django_assert_max_num_queries, django_assert_num_queries
):
    client.force_login(make_user("viewer"))
    small = make_benchmark(topics=2, ideas=1)
    tried(small, "One", right, template=similarity)
    page(client, small)
    with django_assert_max_num_queries(60) as counted:
        page(client, small)
    large = make_benchmark(topics=4, ideas=8, clusters=2)
    for name in ("A", "B", "C"):
        tried(large, name, right, template=similarity)
    with django_assert_num_queries(len(counted)):
        shown = page(client, large).context["document"].table("claims")
    assert len(shown.rows) == large.claims.count()


def test_a_fit_judge_is_marked_for_a_task_and_the_mark_withdrawn(client, benchmark):
    client.force_login(make_user("maintainer"))
    trial = benchmark.trials.get(language_model__name="Sound")
    method = f"{trial.pk}-similarity"
    address = reverse("reports:mark_validated", args=[benchmark.pk])
    type(trial).objects.filter(pk=trial.pk).update(
        method=TrialJudge(trial.language_model, trial.template).method
    )
    assert method in text_of(page(client, benchmark))

    client.post(address, {"choice": method})
    mark = Validation.objects.get()
    assert (mark.trial, mark.task, mark.withdrawn_at) == (trial, "similarity", None)
    assert "Withdraw mark" in text_of(page(client, benchmark))

    client.post(address, {"withdraw": mark.pk})
    mark.refresh_from_db()
    assert mark.withdrawn_at is not None


def test_a_judge_that_is_not_fit_cannot_be_marked(client, benchmark):
    client.force_login(make_user("maintainer"))
    trial = benchmark.trials.get(language_model__name="Yes-sayer")
    address = reverse("reports:mark_validated", args=[benchmark.pk])

    found = client.post(address, {"choice": f"{trial.pk}-similarity"}, follow=True)

    assert "cannot be marked: it takes related programs" in text_of(found)
    assert not Validation.objects.exists()


def test_a_claim_shows_its_texts_and_what_judges_said(client, benchmark):
    client.force_login(make_user("viewer"))
    claim = benchmark.claims.filter(kind="different").first()
    found = text_of(client.get(reverse("reports:claim", args=[claim.pk])))

    assert claim.left.text in found
    assert claim.right.text in found
    assert "Yes-sayer" in found


def test_texts_of_a_sealed_benchmark_are_for_few(client, similarity):
    benchmark = make_benchmark(sealed=True)
    tried(benchmark, "Any", right, template=similarity)
    claim = benchmark.claims.first()
    client.force_login(make_user("viewer"))

    assert client.get(reverse("reports:claim", args=[claim.pk])).status_code == 404
    shown = text_of(page(client, benchmark))
    assert "program 0.0" not in shown
    assert "topic 0" not in shown


def test_position_bias_in_trials_is_that_of_the_same_model(benchmark):
    models = {
        str(trial.language_model): trial.language_model_id for trial in benchmark.trials.all()
    }
    found = swapped_by_model(models.values())

    ranks = benchmark.claims.filter(kind="rank").count()
    n = benchmark.claims.count()
    assert {name: found[pk].passed for name, pk in models.items()} == {
        "Sound": 0,
        "Yes-sayer": ranks,
        "First-glance": n,
    }
    assert {rate.n for rate in found.values()} == {n}


def test_benchmarks_and_trials_are_listed(client, benchmark):
    client.force_login(make_user("viewer"))
    found = client.get(reverse("reports:judge_reliability"), {"tab": "trials"})

    document = found.context["document"]
    assert [table.key for table in document.tables] == ["benchmarks", "trials"]
    assert document.table("trials").as_rows()[0]["judged"].share == 1


def test_a_tuned_judge_is_judged_by_claims_it_was_not_tuned_on(client, similarity):
    """It is right on what its prompt may have been tuned on, and takes all else for the same."""
    benchmark = make_benchmark(topics=3, ideas=8, clusters=2, cluster_ideas=8)
    tuned = new_version(similarity, by=make_user("maintainer"))

    def fitted(claim, order):
        return right(claim, order) if claim.split == Split.DEVELOPMENT else 7.0

    trial = tried(benchmark, "Fitted", fitted, template=tuned)
    client.force_login(make_user("viewer"))
    read = page(client, benchmark).context["document"]
    shown = page(client, benchmark, split="development").context["document"]

    assert read.sentences[-1].endswith("is not fit for any of 3 tasks.")
    assert any("held-out claims" in warning for warning in shown.warnings)
    assert shown.sentences == read.sentences
    development = trial.judgments.filter(claim__split=Split.DEVELOPMENT)
    assert 0 < development.count() < trial.judgments.count()
    assert shown.facts[0].value == development.count() / 2


def test_a_trial_that_is_at_work_is_not_called_unfit(client, similarity):
    benchmark = make_benchmark(topics=3, ideas=6)
    trial = tried(benchmark, "Slow", right, template=similarity)
    last = trial.judgments.order_by("-pk").values_list("pk", flat=True)[:20]
    trial.judgments.filter(pk__in=list(last)).update(state="pending", score=None)
    type(trial).objects.update(state="live")

    report = trial_report(benchmark, {}, make_user())
    assert {one.fit for one in report.fits[trial.pk] if one.measures.failed} == {Fit.OPEN}


def test_few_swapped_pairs_do_not_make_a_judge_unfit(similarity):
    benchmark = make_benchmark(topics=2, ideas=1, languages=("java", "cobol"), name="Tiny")
    trial = tried(benchmark, "Hasty", first_only, template=similarity)

    report = trial_report(benchmark, {}, make_user())
    assert report.measures[trial.pk].symmetric.share < 1
    assert {one.fit for one in report.fits[trial.pk]} == {Fit.OPEN}
