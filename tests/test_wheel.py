"""The wheel, installed where there is no source: it has everything that the site needs."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest

from deploy import prune

ROOT = Path(__file__).parents[1]
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
    """The wheel of this source, unpacked as an installer does."""
    source: Path = tmp_path_factory.mktemp("source")
    site: Path = tmp_path_factory.mktemp("site")
    for name in ("evalhub", "evalhub_client", "issues", "runs", "reports", "templates"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, source / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
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
