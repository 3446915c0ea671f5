"""The wheel as the image has it, where there is no source: everything of the site works."""

import json
import os
import re
import shlex
import shutil
import socket
import sqlite3
import subprocess
import sys
import sysconfig
import zipfile
from configparser import ConfigParser
from contextlib import closing
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from dockerfile_parse import DockerfileParser

from deploy import prune
from tests.evalhub.work.processes import eventually, get, running
from tests.provider import Provider, answer_or_judge

ROOT = Path(__file__).parents[1]
CONTAINERFILE = ROOT / "deploy" / "Containerfile"
IMAGE = DockerfileParser(fileobj=BytesIO(CONTAINERFILE.read_bytes())).structure
UNIT = (ROOT / "deploy" / "systemd" / "evalhub-web.service").read_text()
BUILD = "from setuptools import build_meta; print(build_meta.build_wheel('.'))"
WALK = """
import io
import sys

read = set()
sys.addaudithook(lambda event, about: read.add(str(about[0])) if event == "open" else None)
import django
django.setup()
from django.contrib import admin
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from evalhub.models import User

call_command("migrate", verbosity=0)
call_command("load_sample", stdout=io.StringIO())
client = Client()
client.force_login(User.objects.create_superuser("root"))
pages = [reverse("admin:index"), reverse("reports:index"), reverse("api-docs")]
for model, model_admin in admin.site._registry.items():
    pages.append(reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"))
for page in pages:
    print(client.get(page, follow=True).status_code, page)
import litellm
from evalhub.drawing import png
from evalhub.llm.providers import translated_calls
from evalhub.llm import word_vectors
word_vectors.embed("Two and two.")
loaded = [str(getattr(one, "__file__", "")) for one in list(sys.modules.values())]
print(*sorted(read | set(loaded)), sep="\\n", file=open("read.txt", "w"))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The wheel of what the image copies, unpacked as an installer does."""
    source: Path = tmp_path_factory.mktemp("source")
    site: Path = tmp_path_factory.mktemp("site")
    build = "".join(line["content"] for line in IMAGE).split("FROM ")[1]
    for line in re.findall(r"^COPY (.+)$", build, re.MULTILINE):
        *names, target = line.split()
        for name in names:
            copied = source / (name if target == "./" else target)
            if (ROOT / name).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / name, copied, ignore=ignored)
            else:
                copied.parent.mkdir(exist_ok=True)
                shutil.copy(ROOT / name, copied)
    with zipfile.ZipFile(source / output_of("-c", BUILD, folder=source).split()[-1]) as wheel:
        wheel.extractall(site)
    return site


def output_of(*command: str, folder: Path, **environment: str) -> str:
    """What a Python started in a folder prints; the settings are those given."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("EVALHUB_")}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**own, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_page_opens(installed, tmp_path):
    printed = output_of(
        *("-c", WALK),
        folder=tmp_path,
        DJANGO_SETTINGS_MODULE="evalhub.settings",
        DATABASE_URL="",
        EVALHUB_DEBUG="true",
        EVALHUB_ALLOWED_HOSTS="testserver",
        EVALHUB_LOG_LEVEL="ERROR",
        PYTHONPATH=str(installed),
    )

    lines = printed.strip().splitlines()
    assert len(lines) > 20
    assert [line for line in lines if not line.startswith("200 ")] == []
    assert (tmp_path / "data" / "evalhub.sqlite3").exists()
    packages = Path(sysconfig.get_path("purelib"))
    read = {Path(line) for line in (tmp_path / "read.txt").read_text().splitlines()}
    pruned = {path for pattern in prune.UNREAD for path in packages.glob(pattern)}
    assert len(pruned) > 100
    assert [path for path in sorted(read) if pruned & {path, *path.parents}] == []


def test_it_has_the_files_that_the_source_has(installed):
    """But for what the developers' part needs."""
    kept = {path.relative_to(installed) for path in installed.rglob("*") if path.is_file()}
    parts = ("evalhub", "evalhub_client", "issues", "runs", "reports", "templates")
    own = {path.relative_to(ROOT) for name in parts for path in (ROOT / name).rglob("*.*")}

    assert {path for path in own - kept if "__pycache__" not in path.parts} == set()


def test_it_brings_a_command(installed):
    (points,) = installed.glob("evalhub-*.dist-info/entry_points.txt")
    parser = ConfigParser()
    parser.read(points)

    assert parser["console_scripts"]["evalhub"] == "evalhub.command_line:main"
    help_text = output_of("-m", "evalhub.command_line", "serve", "--help", folder=installed)
    assert "Run the site" in help_text


# The commands of image and units -----------------------------------------------------------------

SHOW_HELP = """
import sys
import django
from django.core.management import get_commands
from evalhub import command_line
from evalhub_client.command_options import COMMANDS

django.setup()
for name in ["", *COMMANDS, *get_commands()]:
    sys.argv = ["evalhub", *[name][:bool(name)], "--help"]
    try:
        command_line.main()
    except SystemExit as error:
        assert not error.code, (name, error.code)
    print("helped", name)
"""
LAUNCH = """
import django
django.setup()
from evalhub.models import LanguageModel, User
from issues.models import Test
from issues.sample_data import load_sample
from runs.launching.launch import launch
from runs.launching.launch_options import read_spec

user = User.objects.create_superuser("root")
load_sample(user)
model = LanguageModel.objects.create(name="m", litellm_model="openai/m", api_base="BASE")
tests = list(Test.objects.runnable().values_list("pk", flat=True)[:3])
launch(read_spec({"label": "first", "tests": tests, "models": [model.pk]}), by=user)
"""


def environment(site: Path, folder: Path, form: str = "json") -> dict[str, Any]:
    """What the image or a unit sets, with folders of the test."""
    return {
        "PYTHONPATH": str(site),
        "DATABASE_URL": "",
        "EVALHUB_DATA_DIR": str(folder / "data"),
        "EVALHUB_SECRET_KEY": "7" * 20 + "a-secret-of-the-test-that-is-long-enough",
        "EVALHUB_ALLOWED_ADDRESSES": "127.0.0.0/8",
        "EVALHUB_LOG_FORMAT": form,
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def test_the_commands_of_the_image_run(installed, tmp_path):
    settings = environment(installed, tmp_path) | {"DJANGO_SETTINGS_MODULE": "evalhub.settings"}
    evalhub = ("-m", "evalhub.command_line")
    helped = output_of("-c", SHOW_HELP, folder=tmp_path, **settings)
    assert {"gate", "worker", "run"} <= set(re.findall(r"^helped (.+)$", helped, re.MULTILINE))

    output_of(*evalhub, "migrate", "--no-input", folder=tmp_path, **settings)
    with Provider() as provider:
        provider.script = answer_or_judge
        output_of("-c", LAUNCH.replace("BASE", provider.base_url), folder=tmp_path, **settings)
        with running(tmp_path / "log", *evalhub, "worker", folder=tmp_path, **settings) as worker:
            eventually(partial(is_answered, tmp_path), f"the run, in {tmp_path / 'log'}")
            worker.terminate()
            assert worker.wait(15) == 0


def is_answered(folder: Path) -> bool:
    with closing(sqlite3.connect(folder / "data" / "evalhub.sqlite3", timeout=10)) as database:
        rows = database.execute("SELECT state, COUNT(*) FROM runs_result GROUP BY state").fetchall()
    return bool(rows == [("done", 3)])


@pytest.mark.parametrize("form", ["json", "text"])
@pytest.mark.parametrize("place", ["image", "unit"])
def test_the_web_server_starts_with_both_log_formats(installed, tmp_path, place, form):
    (of_image,) = (line["value"] for line in IMAGE[-1:] if line["instruction"] == "CMD")
    of_unit = re.findall(r"^ExecStart=(.+)$", UNIT, re.MULTILINE)[0]
    program, *arguments = json.loads(of_image) if place == "image" else shlex.split(of_unit)
    port = free_port()
    command = [argument.replace(":8000", f":{port}") for argument in arguments]
    log, settings = tmp_path / "log", environment(installed, tmp_path, form)
    settings["DJANGO_SETTINGS_MODULE"] = None  # nobody sets it there

    with running(log, "-m", Path(program).name, *command, folder=tmp_path, **settings) as process:
        page = f"http://127.0.0.1:{port}/healthz"
        eventually(partial(answers, page, process), f"an answer, in {log}")
        process.terminate()
        assert process.wait(15) == 0
    lines = [line for line in log.read_text().splitlines() if line]
    assert form == "text" or [json.loads(line) for line in lines] or not lines


def answers(page: str, process: "subprocess.Popen[str]") -> bool:
    assert process.poll() is None, "the web server ended"
    try:
        return bool(get(page))
    except OSError:
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
