"""An HTTP application is run, judged, gated and compared like a model; so are its given answers."""

import json
from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse

from evalhub.models import Call
from issues.models import JudgeTemplate
from reports.documents.links import page_url
from runs.laboratory.workbench.contents import new_bench
from runs.launching.launch import launch
from runs.launching.launch_options import LaunchRefused, LaunchSpec
from runs.models import Judge, Result, Run, Suite
from tests.api import client_of
from tests.application import SETTINGS, Desk
from tests.factories import make_jury, make_model, make_test, make_user
from tests.issues.pages import log_in
from tests.provider import HANG, RATE_LIMITED_WAIT, Reply, prompt, verdict

pytestmark = pytest.mark.django_db(transaction=True)

KEY = "desk-secret-0815-4711"
TURNS = [
    {"role": "user", "content": "Do you take returns?"},
    {"role": "assistant", "content": None},
    {"role": "user", "content": "For how long?"},
]


def judge(request):
    return verdict(int("kettle" in prompt(request)), "By the documents.")


@pytest.fixture
def desk(provider, settings, monkeypatch):
    """The desk as a candidate."""
    monkeypatch.setenv("DESK_KEY", KEY)
    settings.EVALHUB_KEYS = [f"DESK_KEY@127.0.0.1:{provider.port}"]
    provider.script = Desk(judge=judge)
    model = make_model(**SETTINGS | {"api_base": provider.application_url, "timeout_s": 1})
    model.full_clean()
    return model


@pytest.fixture
def suite(desk):
    """A grounded question, a conversation, and a question that finds no documents."""
    grounded = JudgeTemplate.objects.get(family="grounded-in-retrieved-documents")
    tests = [
        make_test("How do I return a kettle?", template=grounded),
        make_test(messages=TURNS),
        make_test("Who are you?", template=grounded),
    ]
    suite = Suite.objects.create(name="Desk")
    suite.tests.set(tests)
    return suite


def spec_of(desk, suite, **fields):
    values = {"label": "desk", "models": [desk.pk], "suite": suite.pk} | fields
    return LaunchSpec.model_validate(values)


def run_of(desk, suite, work, model_at, **fields):
    jury = fields.pop("jury", None) or make_jury(model_at())
    record = launch(spec_of(desk, suite, jury=jury.pk, **fields), by=None)
    return finished(record.runs.get(), work)


def finished(run, work):
    """The run once it is judged; a worker ends after some time, however slow the machine is."""
    while run.results.filter(outcome="pending").exists():
        work()
    return run


def test_an_application_is_run_and_judged_like_a_model(desk, suite, provider, work, model_at):
    provider.script.replies += [RATE_LIMITED_WAIT, HANG, Reply(status=503, body="{}")]

    run = run_of(desk, suite, work, model_at)

    first, talk, lost = run.results.order_by("test_id")
    assert [row.outcome for row in (first, talk, lost)] == ["passed", "failed", "unscored"]
    assert talk.answer.text.startswith("Reply 2 to: For how long?\ntool call: search(")
    assert [turn["content"] for turn in talk.answer.turns] == [
        "Reply 1 to: Do you take returns?",
        "Reply 2 to: For how long?",
    ]
    assert sorted(map(len, provider.script.sessions.values())) == [1, 1, 2]
    assert len({turn["session_id"] for turn in talk.answer.turns}) == 1
    assert [document["title"] for document in talk.answer.documents] == ["returns.md"]
    assert lost.answer.documents == []
    assert (talk.input_tokens, talk.output_tokens, talk.cost_usd) == (30, 10, Decimal("0.004"))
    calls = Call.objects.filter(role="candidate")
    kinds = {"", "rate_limited", "server_error", "timed_out"}
    assert set(calls.values_list("error_kind", flat=True)) == kinds
    run.refresh_from_db()
    assert run.spent_usd == Decimal("0.008")


def test_a_judge_without_the_documents_it_asks_for_fails_and_says_so(
    desk, suite, provider, work, model_at
):
    run = run_of(desk, suite, work, model_at)

    judged, _, lost = run.results.order_by("test_id")
    (shown,) = (body for body in provider.requests if "Returns are free" in prompt(body))
    assert "[BEGIN RETRIEVED DOCUMENTS" in prompt(shown)
    assert "1. returns.md\nReturns are free within 30 days." in prompt(shown)
    assert judged.score == 1
    (judgment,) = lost.judgments.all()
    assert (judgment.state, judgment.value) == ("failed", None)
    assert "none were retrieved" in judgment.justification + judgment.failure_message


def figures_in(report, run):
    """The report without what is of one run only: its number, settings, labels, what it spent."""
    del report["tables"]["settings"], report["tables"]["usage"]
    assert report.pop("labels") in ([], ["imported answers"])
    return json.dumps(report).replace(f"/runs/{run}/", "/runs/-/")


def test_the_same_answers_given_from_elsewhere_give_the_same_report(
    desk, suite, work, model_at, client
):
    suite.tests.remove(suite.tests.order_by("pk").last())
    jury = make_jury(model_at())
    run = run_of(desk, suite, work, model_at, jury=jury)
    api = client_of("maintainer")
    rows = api.get("/api/v1/results/", {"run": run.pk}).json()["results"]
    names = ("latency_ms", "cost_usd", "input_tokens", "output_tokens")
    answers = [
        {
            "test": row["test"],
            "turns": [
                {name: turn[name] for name in ("content", "tool_calls", "documents")}
                for turn in row["answer"]["turns"]
            ],
            **{name: row[name] for name in names},
        }
        for row in rows
    ]

    given = {"label": "desk", "models": [desk.pk], "suite": suite.pk, "jury": jury.pk}
    response = api.post("/api/v1/runs/import_answers/", given | {"answers": answers})
    assert response.status_code == 201, response.content
    again = response.json()["id"]
    finished(Run.objects.get(pk=again), work)
    runs = (run.pk, again)
    one, two = (figures_in(api.get(f"/api/v1/runs/{pk}/report/").json(), pk) for pk in runs)
    assert one == two
    limits = {"blind_spot_points": None, "max_mean_cost_usd": 0.003}
    decided = (({"min_pass_rate": 0.9}, 2), ({"max_mean_cost_usd": 0.001}, 1))
    for policy, code in ((limits, 0), *decided):
        for pk in runs:
            sent = {"run": pk, "against": run.pk, "policy": policy}
            gate = api.post("/api/v1/gates/", sent, format="json").json()
            assert gate["exit"] == code, gate
    client.force_login(make_user("viewer"))
    page = client.get(page_url("compare", runs=list(runs))).text
    assert "2 tests" in page
    client.get(page_url("leaderboard", suite=suite.pk))


def test_secrets_are_in_no_call_page_or_export(desk, suite, provider, work, model_at, client):
    provider.script.replies.append(Reply(status=500, body=json.dumps({"error": f"no {KEY}"})))
    run = run_of(desk, suite, work, model_at)
    client.force_login(make_user("superuser"))
    result = run.results.order_by("test_id")[0]
    api = client_of("superuser")

    stored = "".join(f"{row.reply}{row.error_message}" for row in Call.objects.all())
    assert "no [key hidden]" in stored
    for text in (
        stored,
        client.get(desk.get_absolute_url()).text,
        client.get(result.get_absolute_url()).text,
        client.get(f"/reports/runs/{run.pk}/report.json").text,
        api.get(f"/api/v1/language-models/{desk.pk}/").text,
        api.get("/api/v1/calls/").text,
        api.get(f"/api/v1/results/{result.pk}/").text,
    ):
        assert text
        assert KEY not in text


def test_a_test_request_shows_what_each_path_found(desk, provider, client):
    client.force_login(make_user("maintainer"))

    page = client.post(reverse("admin:evalhub_languagemodel_probe", args=[desk.pk])).text

    assert "It works." in page
    assert "Bearer {{ DESK_KEY }}" in page
    assert KEY not in page
    assert "$.reply.text" in page
    assert "Reply 1 to: What can you help me with?" in page
    assert Call.objects.get().role == "probe"


def test_a_launch_that_an_application_cannot_be_asked_is_refused(desk, subtests):
    said = {"role": "assistant", "content": "Yes."}
    system = {"role": "system", "content": "x"}
    for messages, fields, problem in (
        (TURNS[:1], {"system_prompts": ["Be kind."]}, "takes no system prompt: remove it"),
        (TURNS[:1], {"temperatures": [0]}, "takes no parameters"),
        ([{"role": "raw_prompt", "content": "2 + 2 ="}], {}, "takes no raw prompts"),
        ([system, TURNS[0]], {}, "have their own"),
        ([TURNS[0], said, TURNS[2]], {}, "that are written"),
        ([TURNS[0], TURNS[2]], {}, "that are written"),
    ):
        asked = {"label": "x", "models": [desk.pk], "tests": [make_test(messages=messages).pk]}
        with subtests.test(problem), pytest.raises(LaunchRefused, match=problem):
            launch(LaunchSpec.model_validate(asked | fields), by=None)
    assert not Result.objects.exists()


def test_an_application_is_no_judge(desk):
    with pytest.raises(ValidationError, match="tested but never judges"):
        Judge.objects.given(desk)
    response = client_of("maintainer").post(
        "/api/v1/juries/", {"name": "x", "judges": [{"language_model": desk.pk}]}
    )
    assert response.status_code == 400


def test_an_application_is_offered_to_judge_or_write_nowhere(desk, client):
    user = log_in(client, "maintainer")
    make_model(name="Reader")
    bench = new_bench(user, name="Sums")
    addresses = [reverse("admin:issues_generation_add"), reverse("admin:issues_test_edit")]
    for address in (*addresses, bench.get_absolute_url()):
        page = client.get(address).content.decode()
        assert "Reader" in page
        assert desk.name not in page
