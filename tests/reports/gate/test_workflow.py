"""The example workflow for GitHub Actions, run with bash and `evalhub` against the site."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from evalhub.models import Token, TokenScope
from runs.models import Run, Suite
from tests.factories import make_jury, make_test, make_user
from tests.provider import CONTEXT_TOO_LONG, prompt, verdict
from tests.runs.conftest import model_at, provider, work  # noqa: F401

pytestmark = [pytest.mark.django_db(transaction=True)]

ROOT = Path(__file__).parents[3]
WORKFLOW = ROOT / "docs" / "ci-gate.yml"
RUN, GATE, COMMENT = 1, 2, 3
"""Steps, after the installation."""


class Pipeline:
    """The steps of the workflow, in a folder of their own, with the environment of a runner."""

    def __init__(self, folder, url, **environment):
        self.folder = folder
        job = yaml.safe_load(WORKFLOW.read_text())["jobs"]["gate"]
        self.steps = [step["run"] for step in job["steps"] if "run" in step]
        self.declared = set(job["env"])
        self.environment = {
            "PATH": f"{folder}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "EVALHUB_URL": url,
            "GATE_TIMEOUT_S": "60",
            **environment,
        }
        command = folder / "evalhub"
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -m evalhub.command_line "$@"\n')
        command.chmod(0o755)

    def started(self, step, **environment):
        """A step that is at work, as GitHub starts it: bash -e."""
        return subprocess.Popen(
            ["bash", "-e", "-c", self.steps[step]],
            cwd=self.folder,
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def done(self, step, **environment):
        """What a step exits with and prints."""
        process = self.started(step, **environment)
        printed, _ = process.communicate(timeout=90)
        return process.returncode, printed


@pytest.fixture
def pipeline(tmp_path, live_server, model_at):  # noqa: F811
    """A pipeline for a suite of twenty tests, whose answers a judge passes."""
    suite = Suite.objects.create(name="Release tests")
    suite.tests.set(make_test(f"Question {n}?") for n in range(20))
    token = Token.objects.issue(user=make_user("maintainer"), name="CI", scope=TokenScope.WRITE)[1]
    found = Pipeline(
        tmp_path,
        live_server.url,
        EVALHUB_TOKEN=token,
        SUITE=suite.name,
        MODEL=str(model_at().pk),
        JURY=str(make_jury(model_at()).pk),
    )
    assert found.declared <= {*found.environment, "RELEASE", "PACKAGE"}
    return found


@pytest.fixture
def baseline(pipeline, provider, work):  # noqa: F811
    """The run of release v1 passes and is the baseline."""
    provider.script = replies()
    run = released(pipeline, work, "v1")
    run.suite.baselines.add(run)
    return run


def replies(*, score=1, refused=()):
    """Answers that get this score; questions of these numbers end in an error."""

    def script(request):
        text = prompt(request)
        if "response_format" in request:
            return verdict(score)
        return (
            CONTEXT_TOO_LONG
            if any(f"Question {n}?" in text for n in refused)
            else f"Four, {score}."
        )

    return script


def released(pipeline, work, release):  # noqa: F811
    """The run that the first step starts, once a worker has done it."""
    code, printed = pipeline.done(RUN, RELEASE=release)
    assert code == 0, printed
    work()
    return Run.objects.get(label=release)


def test_a_release_as_good_as_its_baseline_passes(pipeline, baseline, work):  # noqa: F811
    released(pipeline, work, "v2")
    code, printed = pipeline.done(GATE, RELEASE="v2")

    assert code == 0, printed
    assert "# Gate: Holds" in printed
    assert "<testsuites" in (pipeline.folder / "gate.xml").read_text()


def test_a_release_that_got_worse_exits_with_1(pipeline, baseline, provider, work):  # noqa: F811
    provider.script = replies(score=0)
    released(pipeline, work, "v2")
    code, printed = pipeline.done(GATE)

    assert code == 1, printed
    assert "Judges rate it worse: lost 20, won 0 of the same 20 tests" in printed
    assert "| worse | “Question 0?” |" in printed
    assert "<failure" in (pipeline.folder / "gate.xml").read_text()


def test_a_release_with_errors_exits_with_2(pipeline, baseline, provider, work):  # noqa: F811
    provider.script = replies(refused=range(4))
    released(pipeline, work, "v2")
    code, printed = pipeline.done(GATE)

    assert code == 2, printed
    assert "Retry 4 failed" in printed


def test_the_pipeline_waits_until_the_run_is_done(pipeline, baseline, work):  # noqa: F811
    assert pipeline.done(RUN, RELEASE="v2")[0] == 0
    asking = pipeline.started(GATE)
    work()
    printed, _ = asking.communicate(timeout=90)

    assert asking.returncode == 0, printed


def test_a_run_that_is_never_done_exits_with_2(pipeline, baseline):
    assert pipeline.done(RUN, RELEASE="v2")[0] == 0
    code, printed = pipeline.done(GATE, GATE_TIMEOUT_S="0")

    assert code == 2
    assert "is not done" in printed


@pytest.mark.parametrize(("known", "sent"), [("", "POST"), ("7", "PATCH")])
def test_a_pull_request_has_one_comment_that_is_updated(tmp_path, known, sent):
    pipeline = Pipeline(tmp_path, "", GITHUB_REPOSITORY="acme/bot", PULL_REQUEST="3")
    gh = tmp_path / "gh"
    gh.write_text(f'#!/bin/sh\necho "$@" >> calls\n[ "$2" = --paginate ] && echo "{known}"\ntrue')
    gh.chmod(0o755)
    (tmp_path / "gate.md").write_text("# Gate: Holds")

    assert pipeline.done(COMMENT) == (0, "")

    call = (tmp_path / "calls").read_text().splitlines()[-1]
    place = "comments/7" if known else "3/comments"
    assert (
        call
        == f"api --method {sent} repos/acme/bot/issues/{place} --field body=@comment.md --silent"
    )
    lines = (tmp_path / "comment.md").read_text().splitlines()
    assert lines == ["<!-- evalhub-gate -->", "# Gate: Holds"]


@pytest.mark.parametrize("step", [RUN, GATE])
def test_a_wrong_token_exits_with_2(pipeline, step):
    (pipeline.folder / "run.id").write_text("1")
    code, printed = pipeline.done(step, EVALHUB_TOKEN="ehub_wrong", RELEASE="v2")

    assert code == 2
    assert "401" in printed
