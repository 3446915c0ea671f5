"""Files for deployment: held against their schemas, and against what EvalHub reads and runs."""

import configparser
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml
from django.core.management import get_commands
from dockerfile_parse import DockerfileParser

from evalhub.operations.health import PROBES
from evalhub.settings.environment import env
from reports.handout.rendering import APT_PACKAGES

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
MANIFESTS: list[dict[str, Any]] = list(
    yaml.safe_load_all((DEPLOY / "kubernetes" / "evalhub.yaml").read_text())
)
OWN = {name for setting in env.settings for name in (setting.name, f"{setting.name}_FILE")} | {
    "EVALHUB_SITE_FILE"
}


def own_names(text: str) -> set[str]:
    """The settings of EvalHub that a text names."""
    return set(re.findall(r"\b(?:EVALHUB_[A-Z0-9_]+|DATABASE_URL(?:_FILE)?)\b", text))


@pytest.mark.parametrize(
    "path",
    [path for path in DEPLOY.rglob("*") if path.is_file() and path.suffix != ".pyc"],
    ids=lambda path: path.name,
)
def test_every_setting_and_command_that_is_named_exists(path):
    text = path.read_text()
    assert own_names(text) - OWN == set()


def test_compose_keeps_to_its_schema():
    schema = files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json"
    validator = jsonschema.Draft202012Validator(json.loads(schema.read_text()))

    assert [error.message for error in validator.iter_errors(COMPOSE)] == []
    assert not validator.is_valid({**COMPOSE, "services": []})


@pytest.mark.parametrize(
    "manifest", MANIFESTS, ids=lambda one: f"{one['kind']} {one['metadata']['name']}"
)
def test_manifests_keep_to_the_schema_of_kubernetes(manifest):
    kubernetes_validate.validate(manifest, "1.31", strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(manifest | {"unknown": 1}, "1.31", strict=True)


def containers() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Name, pod and container of each."""
    for manifest in MANIFESTS:
        pod = manifest.get("spec", {}).get("template", {}).get("spec")
        for container in (pod or {}).get("containers", ()):
            yield container["name"], pod, container


def test_pods_run_closed_and_as_nobody():
    found = list(containers())
    assert [name for name, _, _ in found] == ["migrate", "web", "worker"]
    for _, pod, container in found:
        assert pod["securityContext"]["runAsNonRoot"]
        assert container["securityContext"]["readOnlyRootFilesystem"]
        assert not container["securityContext"]["allowPrivilegeEscalation"]
        assert {"memory"} <= container["resources"]["limits"].keys()
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert {volume["name"] for volume in pod["volumes"]} <= mounted


def test_probes_ask_the_addresses_that_answer_them():
    (web,) = (container for name, _, container in containers() if name == "web")
    ports = {port["name"] for port in web["ports"]}
    for probe in (web["livenessProbe"]["httpGet"], web["readinessProbe"]["httpGet"]):
        assert probe["path"] in PROBES
        assert probe["port"] in ports


def test_all_that_run_commands_run_those_that_there_are():
    started = [container.get("command", []) for _, _, container in containers()]
    started += [service.get("command", []) for service in COMPOSE["services"].values()]
    own = [command for command in started if command[:1] == ["evalhub"]]
    assert len(own) == 4
    assert {command[1] for command in own} <= get_commands().keys()


# The image ---------------------------------------------------------------------------------------


def image() -> list[dict[str, Any]]:
    parser = DockerfileParser(fileobj=BytesIO((DEPLOY / "Containerfile").read_bytes()))
    return [line for line in parser.structure if line["instruction"] != "COMMENT"]


def test_the_image_has_no_root_and_no_build_tools():
    starts = [n for n, line in enumerate(image()) if line["instruction"] == "FROM"]
    build, last = image()[: starts[1]], image()[starts[1] :]

    assert len(starts) == 2
    assert all(re.search(r":\d[\w.-]*( AS \w+)?$", image()[n]["value"]) for n in starts)
    (user,) = (line["value"] for line in last if line["instruction"] == "USER")
    assert user == "10001:10001"
    installs = [line["value"] for line in build if "pip install" in line["value"]]
    assert "--require-hashes" in installs[0]
    assert not any("pip " in line["value"] for line in last)
    (apt,) = (line["value"] for line in last if "apt" in line["value"])
    assert apt.partition(" --no-install-recommends ")[2].split("&&")[0].split() == [*APT_PACKAGES]
    assert any("uninstall --yes pip" in line["value"] for line in build)


def test_the_image_copies_what_there_is_and_the_builder_sees_it():
    root = DEPLOY.parent
    ignore = (DEPLOY / "Containerfile.dockerignore").read_text().splitlines()
    sent = {line[1:] for line in ignore if line.startswith("!")}
    assert "*" in ignore
    for line in image():
        if line["instruction"] == "COPY" and "--from" not in line["value"]:
            for source in line["value"].split()[:-1]:
                assert (root / source).exists(), source
                assert source in sent


# Units -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_units_start_what_is_installed_and_end_in_time(path):
    unit = configparser.RawConfigParser(strict=False, delimiters=("=",))
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(path)
    program, *arguments = shlex.split(unit["Service"]["ExecStart"])

    assert program in ("/opt/evalhub/bin/evalhub", "/opt/evalhub/bin/gunicorn")
    if program.endswith("/evalhub"):
        assert arguments[0] in get_commands()
    assert int(unit["Service"]["TimeoutStopSec"]) > 8
    assert unit["Service"]["User"] == "evalhub"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_knows_all_that_the_units_say(tmp_path):
    for path in UNITS:  # with programs and users of this machine
        text = re.sub(r"/opt/evalhub/bin/\w+", "/bin/true", path.read_text())
        (tmp_path / path.name).write_text(text.replace("User=evalhub", "User=nobody"))
    units = [str(path).replace("@.", "@1.") for path in sorted(tmp_path.iterdir())]
    done = subprocess.run(
        ["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False
    )
    mine = [line for line in done.stderr.splitlines() if "evalhub" in line and "nobody" not in line]
    assert mine == []
