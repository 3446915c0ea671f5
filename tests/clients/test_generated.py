"""Clients generated from the schema, in Python and TypeScript, walk the whole flow on the site.

What generates the TypeScript client comes from npm: a whole run of the tests installs it, and so
does `python3 dev.py clients`; elsewhere its test is skipped.
"""

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from drf_spectacular.generators import SchemaGenerator

from evalhub.models import Token, TokenScope
from tests.factories import make_jury, make_user
from tests.provider import verdict
from tests.runs.conftest import model_at, provider, work  # noqa: F401

HERE = Path(__file__).parent
NODE = HERE.parents[1] / ".clients"
"""Where npm installs, once."""

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    file = tmp_path_factory.mktemp("schema") / "schema.json"
    file.write_text(json.dumps(SchemaGenerator().get_schema(request=None, public=True)))
    return file


@pytest.fixture
def site(live_server, provider, model_at):  # noqa: F811
    """What both clients are told: an address, a token, a model and a jury."""
    provider.script = lambda request: (
        verdict("FULLY_MET") if "response_format" in request else "Four."
    )
    owner = make_user("maintainer", username="script")
    token = Token.objects.issue(user=owner, name="script", scope=TokenScope.WRITE)[1]
    jury = make_jury(model_at(), approaches=("standard",))
    return {
        "EVALHUB_URL": live_server.url,
        "EVALHUB_TOKEN": token,
        "MODEL": str(model_at().pk),
        "JURY": str(jury.pk),
    }


def done(*command, folder, **environment):
    """Run a program and return what it prints."""
    ended = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


# Python ------------------------------------------------------------------------------------------


class Generated:
    """The generated package: `call("issues_create", body={…})` returns JSON."""

    def __init__(self, folder, url, token):
        sys.path.insert(0, str(folder))
        self.client = importlib.import_module("generated").AuthenticatedClient(
            base_url=url, token=token, raise_on_unexpected_status=True
        )
        self.operations = {file.stem: file for file in (folder / "generated/api").glob("*/*.py")}

    def call(self, operation, *path, body=None, **query):
        file = self.operations[operation]
        module = importlib.import_module(f"generated.api.{file.parent.name}.{operation}")
        if body is not None:
            query["body"] = self.body_of(module, body)
        found = module.sync_detailed(*path, client=self.client, **query)
        assert found.parsed is not None, (operation, found.content)
        return found.parsed

    def body_of(self, module, body):
        """The body as the class that the operation takes."""
        annotation = module.sync_detailed.__annotations__["body"]
        kinds = getattr(annotation, "__args__", (annotation,))
        return next(kind for kind in kinds if hasattr(kind, "from_dict")).from_dict(body)


@pytest.fixture
def generated(schema, site, tmp_path, monkeypatch):
    (tmp_path / "config.yml").write_text("post_hooks: []\n")
    done(
        *(sys.executable, "-m", "openapi_python_client", "generate", "--path", schema),
        *("--meta", "none", "--output-path", "generated", "--config", "config.yml"),
        folder=tmp_path,
    )
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield Generated(tmp_path, site["EVALHUB_URL"], site["EVALHUB_TOKEN"])
    for name in [name for name in sys.modules if name.partition(".")[0] == "generated"]:
        del sys.modules[name]


def test_the_python_client_walks_the_flow(generated, site, work):  # noqa: F811
    call = generated.call
    source = {"kind": "general", "value": "A chat"}
    issue = call(
        "issues_create",
        body={"title": "Wrong sums", "description": "2 + 2 = 5.", "sources": [source]},
    )
    test = call(
        "tests_create",
        body={
            **{"issue": issue.id, "source_id": "python", "criteria": [{"text": "Says 4"}]},
            "messages": [{"role": "user", "content": "2 + 2?"}],
        },
    )
    assert call("issues_move_create", issue.id, body={"move": "approve"}).state == "approved"
    launch = call(
        "runs_create",
        body={
            **{"label": "python", "tests": [test.id]},
            **{"models": [int(site["MODEL"])], "jury": int(site["JURY"])},
        },
    )
    (run,) = launch.runs
    assert call("runs_progress_retrieve", run).is_live
    work()

    assert not call("runs_progress_retrieve", run).is_live
    (result,) = call("results_list", run=run).results
    assert (result.test_source_id, result.outcome, result.answer.text) == (
        *("python", "passed"),
        "Four.",
    )
    policy = {"conclusion": False, "failing_severity": "low"}
    gate = {"run": str(run), "policy": policy}
    assert call("gates_create", body=gate).exit_ == 0
    override = {"option": "UNMET", "justification": "It says five."}
    key = test.criteria[0].to_dict()["key"]
    call("human_evaluations_create", body={"result": result.id, "criterion": key, **override})
    assert call("gates_create", body=gate).exit_ == 0  # as judged
    assert call("feedback_batch_create", body={"feedback": [{"comment": "Wrong."}]}).added == 1
    missing = call("runs_retrieve", 10**9)
    assert "detail" in missing.to_dict()


# TypeScript --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def node():
    """A folder with what generates and compiles a client."""
    wanted = (HERE / "package.json").read_text()
    stamp = NODE / "package.json"
    if not ((NODE / "node_modules").exists() and stamp.exists() and stamp.read_text() == wanted):
        if not os.environ.get("GENERATED_CLIENTS"):
            pytest.skip("its generator is not installed: python3 dev.py clients")
        if not shutil.which("npm"):
            pytest.skip("there is no npm: apt-get install nodejs npm")
        NODE.mkdir(exist_ok=True)
        stamp.write_text(wanted)
        installed = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"],
            cwd=NODE,
            capture_output=True,
            text=True,
            check=False,
        )
        if installed.returncode:
            stamp.unlink()
            pytest.skip(f"npm cannot install here: {installed.stderr[-300:]}")
    return NODE


def test_the_typescript_client_walks_the_flow(node, schema, site, work):  # noqa: F811
    tools = node / "node_modules" / ".bin"
    options = ("--default-non-nullable", "false")  # what has a default may be left out
    done(tools / "openapi-typescript", schema, "-o", "schema.d.ts", *options, folder=node)
    shutil.copy(HERE / "flow.ts", node)
    strictly = ("--strict", "--noUncheckedIndexedAccess", "--skipLibCheck")
    target = ("--module", "nodenext", "--target", "es2022")
    done(tools / "tsc", *strictly, *target, "flow.ts", folder=node)

    flow = subprocess.Popen(
        ["node", "flow.js"],
        cwd=node,
        env={**os.environ, **site},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert flow.stdout.readline().strip().isdigit(), flow.communicate()
    work()
    printed, problems = flow.communicate(timeout=60)

    assert flow.returncode == 0, problems
    assert json.loads(printed) == {
        "results": [["typescript", "passed", "Four."]],
        **{"exits": [0, 0], "added": 1, "status": 404, "error": "object"},
    }
