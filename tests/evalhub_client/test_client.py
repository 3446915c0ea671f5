"""Both clients against the site, whose worker asks a provider with scripted replies."""

import asyncio
import subprocess
import sys
from functools import partial
from typing import Any

import httpx
import pytest

from evalhub.api import filters
from evalhub.models import Token, TokenScope
from evalhub_client import ApiError, AsyncClient, Client, EvalHubError, NotDone, Unreachable
from evalhub_client import operations as rules
from issues.models import Criterion, Feedback, Test
from runs.models import Launch, Suite
from tests.factories import make_issue, make_jury, make_test, make_user
from tests.provider import prompt, verdict
from tests.runs.conftest import model_at, provider, work  # noqa: F401


class Awaited:
    """An `AsyncClient` that waits for each of its operations, so that one test is for both."""

    def __init__(self, *arguments):
        self.arguments = arguments

    def __getattr__(self, name):
        return partial(self._done, name)

    def _done(self, name, *args, **kwargs):
        async def act():
            async with AsyncClient(*self.arguments) as client:
                if name == "rows":
                    return [row async for row in client.rows(*args, **kwargs)]
                return await getattr(client, name)(*args, **kwargs)

        return asyncio.run(act())


@pytest.fixture
def token(db):
    return Token.objects.issue(user=make_user("maintainer"), name="CI", scope=TokenScope.WRITE)[1]


@pytest.fixture
def evalhub(request, live_server, token):
    return getattr(request, "param", Client)(live_server.url, token)


with_both = pytest.mark.parametrize("evalhub", [Client, Awaited], indirect=True)
"""What a client does itself; the other operations are the same flow for both."""


@pytest.fixture
def launched(evalhub, provider, model_at):  # noqa: F811
    """A run of two tests, one of which fails."""
    provider.script = lambda request: (
        verdict(int("Question 1?" in prompt(request))) if "response_format" in request else "Four."
    )
    suite = Suite.objects.create(name="Release tests")
    suite.tests.set(make_test(f"Question {n}?", source_id=f"q{n}") for n in range(2))
    jury = make_jury(model_at())
    return evalhub.launch(
        label="Build 1", release="v1", suite=suite.pk, models=[model_at().pk], jury=jury.pk
    )


pytestmark = pytest.mark.django_db(transaction=True)


@with_both
def test_a_run_from_launch_to_gate(evalhub, launched, work):  # noqa: F811
    seen: list[Any] = []
    with pytest.raises(NotDone, match=f"run {launched['runs'][0]}"):
        evalhub.wait(launched["runs"], timeout_s=0, watch=seen.append)
    work()
    (run,) = evalhub.wait(launched["runs"], timeout_s=60, watch=seen.append)
    rows = evalhub.results(run["id"])
    decision = evalhub.gate("Build 1", policy={"conclusion": False, "failing_severity": "low"})

    assert (run["state"], run["release"]) == ("done", "v1")
    assert [(one["answered"], one["total"]) for progress in seen for one in progress] == [
        *[(0, 2)],
        *[(2, 2)],
    ]
    assert {(row["test_source_id"], row["outcome"], row["answer"]) for row in rows} == {
        ("q0", "failed", "Four."),
        ("q1", "passed", "Four."),
    }
    assert {(row["run_label"], row["release"], row["model"]) for row in rows} == {
        ("Build 1", "v1", run["model_name"])
    }
    assert decision["exit"] == 1


def test_a_launch_sent_twice_with_one_key_is_made_once(evalhub, model_at):  # noqa: F811
    body = {"label": "Once", "tests": [make_test().pk], "models": [model_at().pk]}
    first, again = (evalhub.launch(idempotency_key="build-1", **body) for _ in range(2))

    assert first["runs"] == again["runs"]
    assert Launch.objects.count() == 1


@with_both
def test_lists_are_read_to_their_end(evalhub, monkeypatch):
    for n in range(5):
        make_issue(title=f"Issue {n}")
    monkeypatch.setattr(rules, "LONGEST_PAGE", 2)
    monkeypatch.setattr("evalhub_client.client.LONGEST_PAGE", 2)
    assert filters.Pagination.max_page_size >= 2

    titles = [f"Issue {n}" for n in reversed(range(5))]
    assert [row["title"] for row in evalhub.all("issues/")] == titles
    assert [row["title"] for row in evalhub.rows("issues/")] == titles


def test_tests_go_out_and_come_back_unchanged(evalhub):
    issue = make_issue()
    criteria = [
        {"text": "Names the price"},
        {"check": "contains_any", "arguments": {"texts": ["€"]}},
    ]
    sent = [
        {
            **{"issue": issue.pk, "source_id": f"price-{n}", "criteria": criteria},
            "messages": [{"role": "user", "content": f"Price {n}?"}],
        }
        for n in range(2)
    ]

    made = evalhub.push_tests(sent)["made"]
    assert evalhub.push_tests(sent) == {"made": [], "changed": [], "same": made}
    pulled = evalhub.pull_tests(issue=issue.pk)
    assert [test["source_id"] for test in pulled] == ["price-0", "price-1"]
    assert evalhub.push_tests(pulled)["same"] == made

    keys = set(Criterion.objects.values_list("key", flat=True))
    changed = [{**sent[0], "reference": "5 €", "criteria": [*criteria, {"text": "Is polite"}]}]
    assert evalhub.push_tests(changed)["changed"] == made[:1]
    assert Test.objects.get(pk=made[0]).reference == "5 €"
    assert keys < set(Criterion.objects.values_list("key", flat=True))


def test_a_test_without_a_source_is_named_and_none_is_made(evalhub):
    with pytest.raises(EvalHubError, match="item 2: source_id is missing"):
        evalhub.push_tests([{"source_id": "a"}, {}])
    assert not Test.objects.exists()


def test_answers_made_elsewhere_become_a_run(evalhub, model_at):  # noqa: F811
    test = make_test()
    answers = [{"test": test.pk, "answer": "Four.", "latency_ms": 12}]
    run = evalhub.push_answers(answers, label="Build 2", models=[model_at().pk])

    assert evalhub.results(run["id"])[0]["latency_ms"] == 12


def test_feedback_goes_in_batches(evalhub, monkeypatch):
    monkeypatch.setattr(rules, "MOST_FEEDBACK", 2)
    rows = [
        {"comment": f"Wrong {n % 4}.", "source": "web", "source_id": str(n % 4)} for n in range(5)
    ]
    answer = evalhub.send_feedback(rows)

    assert (answer["added"], answer["duplicates"], len(answer["results"])) == (4, 1, 5)
    assert Feedback.objects.count() == 4


@with_both
def test_a_refusal_names_status_and_problems(evalhub):
    with pytest.raises(ApiError) as refused:
        evalhub.launch(label="x", models=[999], tests=[998])

    assert refused.value.status == 400
    assert "999" in str(refused.value)


def test_names_become_ids(evalhub):
    suite = Suite.objects.create(name="Release tests")

    assert evalhub.find("suites", "Release tests") == suite.pk
    assert evalhub.find("suites", str(suite.pk)) == suite.pk
    with pytest.raises(EvalHubError, match="There is no jury 'Nobody'"):
        evalhub.find("juries", "Nobody")


def test_a_row_moves_through_its_states(evalhub):
    issue = make_issue(state="approved")
    evalhub.move(f"issues/{issue.pk}/", "draft")

    assert evalhub.get(f"issues/{issue.pk}/")["state"] == "draft"


@pytest.mark.parametrize("kind", [Client, Awaited])
def test_a_site_that_is_down_is_an_error_of_its_own(kind):
    client = kind("http://127.0.0.1:1", "ehub_x")
    with pytest.raises(Unreachable, match=r"http://127\.0\.0\.1:1"):
        client.patch("tests/1/", {})


def test_a_token_file_will_do(live_server, token, tmp_path, monkeypatch):
    (tmp_path / "token").write_text(f"{token}\n")
    monkeypatch.setenv("EVALHUB_URL", live_server.url)
    monkeypatch.setenv("EVALHUB_TOKEN_FILE", str(tmp_path / "token"))

    with Client() as evalhub:
        assert evalhub.get("runs/")["results"] == []


# What it needs -----------------------------------------------------------------------------------

ALONE = """
import sys
before = {name.partition(".")[0] for name in sys.modules}
import evalhub_client.command
print(*sorted({name.partition(".")[0] for name in sys.modules} - before - sys.stdlib_module_names))
"""


def test_it_needs_httpx_alone():
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=True)
    of_httpx = {"anyio", "certifi", "h11", "h2", "hpack", "httpcore", "httpx", "hyperframe", "idna"}
    optional = {
        "_brotli",
        "brotli",
        "brotlicffi",
        "click",
        "exceptiongroup",
        "sniffio",
        "socksio",
        "zstandard",
    }

    assert set(done.stdout.split()) <= {"evalhub_client", "rich", "pygments", *of_httpx, *optional}
    assert httpx.__version__
