"""Long exports: every row once, resumable, incremental, and only what the reader may read."""

import gzip
import io
import json
from datetime import timedelta

import pytest
from django.utils import timezone
from django.utils.http import urlencode

from evalhub.api import exports
from evalhub.files import parquet
from issues.models import Feedback
from runs.api.filters import changed_since
from runs.judging.activation import set_active
from runs.launching.launch import add_judge_run
from runs.models import Answer, HumanEvaluation, JudgeRun, Judgment, Result, Run, Sight
from tests.api import client_of
from tests.factories import make_issue, make_model, make_run, make_test, make_user
from tests.issues.pages import make_feedback
from tests.runs.rubric_runs import rubric_run

pytestmark = pytest.mark.django_db

CRITERIA = [{"text": "Says 4"}]
VOTES = {"Says 4": [1.0, 0.0]}


@pytest.fixture
def client():
    return client_of("viewer", scope="read")


@pytest.fixture
def run():
    return rubric_run(CRITERIA, VOTES)


def get(client, address, **query):
    headers = query.pop("headers", {})
    response = client.get(f"/api/v1/{address}/export/?{urlencode(query)}", headers=headers)
    assert response.status_code == 200, response.content
    return response, b"".join(response.streaming_content)


def lines(client, address, **query):
    return [json.loads(line) for line in get(client, address, **query)[1].splitlines()]


def results_of(run, times):
    """More results of the run's tests."""
    first = run.results.get()
    Result.objects.bulk_create(
        Result(
            run=run,
            revision=first.revision,
            test=first.test,
            issue=first.issue,
            tag_set=first.tag_set,
            repeat=repeat,
        )
        for repeat in range(1, times)
    )


@pytest.mark.parametrize("address", ["results", "judgments", "feedback", "tests", "issues"])
def test_an_export_says_what_the_list_says(client, run, address):
    make_feedback(issue=run.results.get().issue)

    (listed, *_) = client.get(f"/api/v1/{address}/?ordering=id").json()["results"]
    exported = lines(client, address)[0]

    shared = exported.keys() & listed.keys() - {"answer"}
    assert len(shared) > 8
    assert {name: exported[name] for name in shared} == {name: listed[name] for name in shared}


def test_results_carry_their_run_and_answer(client, run):
    (row,) = lines(client, "results")

    assert (row["model"], row["run_label"]) == (run.model_name, run.label)
    assert row["answer"] == run.results.get().answer.text
    assert row["outcome"] == run.results.get().outcome


def test_an_interrupted_export_continues_after_the_last_row(client, run, monkeypatch):
    monkeypatch.setattr(exports, "PORTION", 3)
    results_of(run, 8)
    everything = lines(client, "results", run=run.pk)

    rest = lines(client, "results", run=run.pk, after=everything[4]["id"])
    response, part = get(client, "results", run=run.pk, limit=5)
    following = client.get(response["Link"].split(">")[0].removeprefix("<"))

    ids = [row["id"] for row in everything]
    assert ids == sorted(Result.objects.values_list("pk", flat=True))
    assert [row["id"] for row in rest] == ids[5:]
    assert [json.loads(line)["id"] for line in part.splitlines()] == ids[:5]
    received = b"".join(following.streaming_content).splitlines()
    assert [json.loads(line)["id"] for line in received] == ids[5:]
    assert "Link" not in following


def test_gzip_is_used_where_it_is_accepted(client, run):
    response, packed = get(client, "results", headers={"accept-encoding": "gzip"})

    assert response["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(packed))["run"] == run.pk


def test_parquet_has_types(client, run):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet as files

    _, data = get(client, "results", format="parquet")

    table = files.read_table(io.BytesIO(data))
    types = {field.name: str(field.type) for field in table.schema}
    assert (types["score"], types["passed"], types["run"]) == ("double", "bool", "int64")
    assert types["cost_usd"] == "decimal128(14, 8)"
    assert table.to_pylist()[0]["run"] == run.pk


def test_without_pyarrow_parquet_is_refused_with_what_to_install(client, monkeypatch):
    monkeypatch.setattr(parquet, "is_available", lambda: False)

    response = client.get("/api/v1/results/export/?format=parquet")

    assert response.status_code == 400
    assert "pyarrow" in str(response.json())


@pytest.mark.parametrize("query", ["format=xlsx", "after=x", "limit=0", "page_size=3", "sate=done"])
def test_unknown_parameters_and_values_are_refused(client, query):
    response = client.get(f"/api/v1/results/export/?{query}")

    assert response.status_code == 400, response.content
    assert query.split("=")[0] in str(response.json())


def test_a_reader_without_the_right_gets_the_figures_of_sealed_tests_only():
    run = rubric_run(CRITERIA, VOTES, tests=(make_test(sealed=True, criteria=CRITERIA),))
    results, judgments = (lines(client_of("viewer"), name) for name in ("results", "judgments"))

    assert (results[0]["is_readable"], results[0]["answer"]) == (False, None)
    assert results[0]["score"] == run.results.get().score
    assert judgments == []


@pytest.mark.parametrize("many", [0, 1000])
def test_updated_since_leaves_out_what_is_old_and_finds_each_kind_of_change(
    client, monkeypatch, many
):
    monkeypatch.setattr("runs.api.filters.MANY", many)
    _old, changed, rejudged = (rubric_run(CRITERIA, VOTES) for _ in range(3))
    before = timezone.now() - timedelta(days=9)
    for model in (Run, JudgeRun):
        model.objects.update(state="done", created_at=before, finished_at=before)
    Answer.objects.update(created_at=before)
    since = (timezone.now() - timedelta(days=1)).isoformat()
    assert lines(client, "results", updated_since=since) == []

    HumanEvaluation.objects.create(
        result=changed.results.get(),
        criterion=changed.results.get().revision.criteria.get(key=""),
        annotator=make_user("annotator"),
        value=1.0,
    )
    other = add_judge_run(rejudged, [], name="", active=False)
    JudgeRun.objects.filter(pk=other.pk).update(created_at=before, state="done")
    set_active(other)

    found = {row["run"] for row in lines(client, "results", updated_since=since)}
    assert found == {changed.pk, rejudged.pk}


def test_few_changes_are_found_without_a_look_at_every_answer(run):
    few = Result.objects.filter(changed_since(timezone.now() - timedelta(days=1)))

    assert "runs_answer" not in str(few.query)
    assert few.count() == run.results.count()


def test_feedback_that_was_triaged_is_found_again(client):
    feedback = make_feedback(issue=make_issue())
    since = timezone.now().isoformat()
    assert lines(client, "feedback", updated_since=since) == []

    feedback.note = "Known."
    feedback.save()

    assert [row["id"] for row in lines(client, "feedback", updated_since=since)] == [feedback.pk]
    assert Feedback.objects.count() == 1


def test_an_annotator_who_exports_a_run_has_seen_its_verdicts(run):
    annotator = make_user("annotator")

    lines(client_of(annotator), "results", run=run.pk)

    assert Sight.objects.filter(person=annotator, run=run, result=None).exists()


def test_a_portion_costs_the_same_queries_for_many_rows(client, run, django_assert_max_num_queries):
    few = make_run(make_test(), model=make_model())
    results_of(run, 40)
    assert few.results.count() == 1

    with django_assert_max_num_queries(12):
        assert len(lines(client, "results", run=run.pk)) == 40
    assert Judgment.objects.exists()
